//! A server that notes which calls reached it, and a client for it.

use std::path::Path;
use std::sync::{Arc, Mutex};

use phasegate_adapter::Guard;
use phasegate_guard::Gate;
use phasegate_runtime::{Locations, Project, Runtime};
use phasegate_service::ProjectGuard;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorData,
    ListToolsResult, PaginatedRequestParams, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::{ClientHandler, RoleClient, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, json};

/// A server with a tool of whatever name: `fails` fails, `breaks` is an error of the protocol, the others succeed.
#[derive(Clone, Default)]
pub(crate) struct Tools {
    pub(crate) ran: Arc<Mutex<Vec<String>>>,
}

impl Tools {
    pub(crate) fn ran(&self) -> Vec<String> {
        self.ran.lock().unwrap().clone()
    }
}

impl ServerHandler for Tools {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.ran.lock().unwrap().push(request.name.to_string());
        match request.name.as_ref() {
            "breaks" => Err(ErrorData::internal_error("broken", None)),
            "fails" => Ok(CallToolResult::error(vec![ContentBlock::text("failed")]).into()),
            _ => Ok(CallToolResult::success(vec![ContentBlock::text("done")]).into()),
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Map::from_iter([("type".to_owned(), json!("object"))]);
        let tool = |name: &'static str| Tool::new(name, name, schema.clone());
        let shaped = tool("shaped").with_raw_output_schema(Arc::new(schema.clone()));
        Ok(ListToolsResult::with_all_items(vec![tool("look"), tool("change_it"), shaped]))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.ran.lock().unwrap().push(request.method.clone());
        Ok(CustomResult::new(json!({})))
    }
}

/// A client that counts how often it heard that the list of tools is another one.
#[derive(Clone, Default)]
pub(crate) struct Counting(pub(crate) Arc<Mutex<usize>>);

impl ClientHandler for Counting {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        *self.0.lock().unwrap() += 1;
    }
}

pub(crate) type Client = RunningService<RoleClient, Counting>;

/// A client of a connection of its own to this handler.
pub(crate) async fn connect(gate: &Gate, tools: &Tools) -> Client {
    let (near, far) = tokio::io::duplex(1 << 16);
    let guarded = gate.wrap(tools.clone());
    tokio::spawn(async move { guarded.serve(far).await.unwrap().waiting().await });
    Counting::default().serve(near).await.unwrap()
}

pub(crate) async fn call(client: &Client, tool: &'static str) -> CallToolResult {
    client.call_tool(CallToolRequestParams::new(tool)).await.unwrap()
}

pub(crate) async fn activate(client: &Client, skill: &str) -> CallToolResult {
    let arguments = Map::from_iter([("skill_name".to_owned(), json!(skill))]);
    client.call_tool(CallToolRequestParams::new("activate_skill").with_arguments(arguments)).await.unwrap()
}

/// The names of the tools that the client is shown.
pub(crate) async fn listed(client: &Client) -> Vec<String> {
    let page = client.list_tools(None).await.unwrap();
    page.tools.into_iter().map(|tool| tool.name.into_owned()).collect()
}

/// The code in a denial.
pub(crate) fn code(result: &CallToolResult) -> Option<String> {
    Some(result.structured_content.as_ref()?.get("code")?.as_str()?.to_owned())
}

pub(crate) const SKILL: &str = "skill: work\ndescription: Look first.\nmode: block\nservers: [box]\nunlisted: deny\nphases:\n  look:\n    \
    allowed: [look, fails, shaped]\n    forbidden: [change_it]\n    done_when: { ok: look }\n  change:\n    allowed: [change_it]\n    \
    forbidden: [look]\n";

/// The guard of a project with this skill in a folder.
pub(crate) fn project(folder: &Path) -> Arc<dyn Guard> {
    let skills = folder.join("project/.phasegate/skills");
    std::fs::create_dir_all(&skills).unwrap();
    std::fs::write(skills.join("work.yaml"), SKILL).unwrap();
    let [state, user, machine, home] = ["state", "user", "machine", "home"].map(|name| folder.join(name));
    let locations = Locations { state, user, machine, home };
    let project = Project::find(&locations, &folder.join("project"));
    Arc::new(ProjectGuard::new(Runtime::new(locations, []), project))
}
