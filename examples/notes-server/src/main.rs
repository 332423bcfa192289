//! The notes server with every call of its tools decided first.

use notes_server::Notes;
use rmcp::ServiceExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let notes = Notes::new("notes");
    let gate = phasegate_guard::from_environment("notes")?;
    let server = gate.wrap(notes).serve(rmcp::transport::stdio()).await?;
    server.waiting().await?;
    Ok(())
}
