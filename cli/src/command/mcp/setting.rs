//! What a relay works with.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use phasegate_adapter::{Guard, current_session};
use phasegate_mcp::options::{Options, Session};
use phasegate_mcp::proxy::{Spec, over_stdio};
use phasegate_mcp::relay::Ended;
use phasegate_runtime::ancestors::own_ancestors;
use phasegate_runtime::policy_store::Current;
use phasegate_service::ProjectGuard;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// What a relay works with.
pub(crate) struct Setting {
    pub(crate) guard: Arc<dyn Guard>,
    pub(crate) options: Options,
}

impl Setting {
    /// The guard of the project and its settings, with trusted servers marked. If the settings cannot be read, no
    /// server is trusted, and every call is denied with the reason.
    pub(crate) fn of(context: &Context, specs: &mut [Spec]) -> Result<Self, Failure> {
        let runtime = context.runtime()?;
        let project = context.find_project(&runtime)?;
        let mut options = Options::default();
        if let Ok(Current::Ready(ready)) = runtime.current(&project) {
            options.hide_forbidden = ready.settings.mcp.hide_forbidden;
            for spec in specs {
                spec.trusted = ready.settings.mcp.trusted.contains(&spec.name);
            }
        }
        Ok(Self { guard: Arc::new(ProjectGuard::new(runtime, project)), options })
    }
}

/// Serves the client at standard input and output.
pub(crate) fn serve_here(specs: &[Spec], setting: Setting) -> Result<Exit, Failure> {
    let session = Session { host: true, ..Session::own(session_id(setting.guard.as_ref())) };
    let failed = |error| Failure::new(format!("standard input and output cannot be served: {error}"));
    match over_stdio(specs, session, setting.guard, setting.options).map_err(failed)? {
        Ended::ClientClosed | Ended::Stopped => Ok(Exit::Done),
        Ended::ServerGone => Ok(Exit::Failed),
    }
}

/// The id of the session: the relays that one client started share it. Where the client's process is not seen, it is one
/// that no other process has.
fn session_id(guard: &dyn Guard) -> String {
    if let Some(client) = own_ancestors().first() {
        return current_session(guard, &format!("mcp-{}", client.name())).0;
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("mcp-{}-{}", since.as_millis(), std::process::id())
}
