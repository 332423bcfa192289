//! `phasegate mcp`: before a server of tools, or as one.

mod setting;
pub mod listen;
pub mod proxy;
pub mod serve;

parts! {
    /// Proxy between a client and its servers: decide every call before forwarding it. Exit status 2: no server could be
    /// started, or the only one ended
    Proxy(proxy);
    /// Serve only the skill tools, as an MCP server
    Serve(serve);
}
