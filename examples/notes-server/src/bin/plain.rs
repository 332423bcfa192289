//! The notes server without a guard.

use notes_server::Notes;
use rmcp::ServiceExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let notes = Notes::new("notes");
    let server = notes.serve(rmcp::transport::stdio()).await?;
    server.waiting().await?;
    Ok(())
}
