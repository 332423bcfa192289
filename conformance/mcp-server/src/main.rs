//! An MCP server with all tools that the tests call. It offers what the official conformance suite requires. It also
//! offers what a guard in front of a server can get wrong: slow and large answers, failures, requests to the client,
//! unknown methods.
//!
//! Without arguments it speaks over standard input and output; with `--listen ADDRESS` over streamable HTTP at `/mcp`.

mod catalogue;
mod document;
mod server;
mod shared;
mod tools;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use phasegate_guard::Gate;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, ServiceExt as _};
use tokio::io::AsyncWriteExt as _;

use crate::catalogue::Catalogue;
use crate::server::Server;
use crate::shared::Shared;

/// An MCP server for tests.
#[derive(Parser)]
struct Args {
    /// Serve streamable HTTP at `/mcp` of this address, and print the address; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Answer over HTTP with plain JSON where nothing else is to be sent, and keep no sessions.
    #[arg(long, requires = "listen")]
    stateless: bool,
    /// Have every tool call decided by the project of the current folder, in which the server has this name.
    #[arg(long, value_name = "NAME")]
    guarded: Option<String>,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let served = serve(args).await;
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let text = format!("error: {failure}\n");
            // Where standard error is gone too, the exit status is all that is left.
            let _ = tokio::io::stderr().write_all(text.as_bytes()).await;
            ExitCode::FAILURE
        }
    }
}

async fn serve(args: Args) -> Result<(), Failure> {
    let (catalogue, shared) = (Arc::new(Catalogue::load()?), Arc::new(Shared::default()));
    let plain = move || Server::new(Arc::clone(&catalogue), Arc::clone(&shared));
    match args.guarded.as_deref().map(phasegate_guard::from_environment).transpose()? {
        Some(gate) => over(args, guarded(gate.handles(true), plain)).await,
        None => over(args, plain).await,
    }
}

/// What makes handlers, each of them guarded.
fn guarded<H: ServerHandler>(gate: Gate, plain: impl Fn() -> H) -> impl Fn() -> phasegate_guard::Guarded<H> {
    move || gate.wrap(plain())
}

async fn over<H: ServerHandler>(args: Args, make: impl Fn() -> H + Send + Sync + 'static) -> Result<(), Failure> {
    match args.listen {
        Some(address) => http(address, args.stateless, make).await,
        None => {
            make().serve(rmcp::transport::stdio()).await?.waiting().await?;
            Ok(())
        }
    }
}

async fn http<H: ServerHandler>(
    address: SocketAddr,
    stateless: bool,
    make: impl Fn() -> H + Send + Sync + 'static,
) -> Result<(), Failure> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins([format!("http://{address}"), format!("http://localhost:{}", address.port())])
        .with_sse_retry(Some(Duration::from_millis(500)))
        .with_legacy_session_mode(!stateless)
        .with_json_response(stateless);
    let service =
        StreamableHttpService::new(move || Ok(make()), Arc::new(LocalSessionManager::default()), config.clone());
    let mut out = tokio::io::stdout();
    out.write_all(format!("http://{address}/mcp\n").as_bytes()).await?;
    out.flush().await?;
    let ended = async move {
        // A process that cannot listen for the signal is ended by it.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        config.cancellation_token.cancel();
    };
    let router = axum::Router::new().nest_service("/mcp", service);
    axum::serve(listener, router).with_graceful_shutdown(ended).await?;
    Ok(())
}
