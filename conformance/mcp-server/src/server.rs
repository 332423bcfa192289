//! The server's side of the protocol.

#![expect(deprecated, reason = "the official suite calls logging, sampling and subscriptions of earlier revisions")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo, CustomNotification,
    CustomRequest, CustomResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ResourceUpdatedNotificationParam,
    ServerCapabilities, ServerConfig, ServerNotification, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use tokio::task::AbortHandle;

use crate::catalogue::Catalogue;
use crate::shared::{Change, Shared};
use crate::tools;

mod prompts;
mod resources;

/// How many entries a page of a list has, where the client asks for pages.
const PAGE: usize = 10;

/// The server of one session.
pub(crate) struct Server {
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) shared: Arc<Shared>,
    level: Mutex<LoggingLevel>,
    watched: Mutex<HashMap<String, AbortHandle>>,
}

impl Server {
    /// A server of what the catalogue lists.
    pub(crate) fn new(catalogue: Arc<Catalogue>, shared: Arc<Shared>) -> Self {
        Self { catalogue, shared, level: Mutex::new(LoggingLevel::Debug), watched: Mutex::default() }
    }

    /// The least level of messages that the client wants to see.
    fn level(&self) -> LoggingLevel {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All tools, the one that comes and goes among them.
    fn tools(&self) -> Vec<Tool> {
        self.catalogue.tools.iter().cloned().chain(self.shared.extra()).collect()
    }

    fn unwatch(&self, uri: &str) {
        if let Some(task) = self.watched.lock().unwrap_or_else(PoisonError::into_inner).remove(uri) {
            task.abort();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for task in self.watched.get_mut().unwrap_or_else(PoisonError::into_inner).values() {
            task.abort();
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("phasegate-test-server", env!("CARGO_PKG_VERSION")))
            .with_instructions("A server for tests.")
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (tools, next) = page(self.tools(), request)?;
        Ok(ListToolsResult { next_cursor: next, ..ListToolsResult::with_all_items(tools) })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tools::call(&self.catalogue, &self.shared, self.level(), request, context).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().into_iter().find(|tool| tool.name == name)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.catalogue.resources.clone()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(self.catalogue.templates.clone()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.shared, &request.uri).map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (mut changes, uri) = (self.shared.changes(), request.uri.clone());
        let task = tokio::spawn(async move {
            while let Ok(change) = changes.recv().await {
                let updated = ResourceUpdatedNotificationParam::new(uri.clone());
                if change == Change::Document && context.peer.notify_resource_updated(updated).await.is_err() {
                    break;
                }
            }
        });
        self.unwatch(&request.uri);
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).insert(request.uri, task.abort_handle());
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.unwatch(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.shared.changes();
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            // What was not asked for is not sent, and a client that is gone ends the subscription.
            match change {
                Ok(Change::Tools) => drop(context.sink().notify_tool_list_changed().await),
                Ok(Change::Document) => {
                    for uri in context.accepted().resource_subscriptions.iter().flatten() {
                        drop(context.sink().notify_resource_updated(uri).await);
                    }
                }
                Err(_) => return Ok(()),
            }
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.catalogue.prompts.clone()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let known = ["paris", "park", "party", "test", "text"];
        let fitting = known.into_iter().filter(|word| word.starts_with(request.argument.value.as_str()));
        let values = CompletionInfo::with_all_values(fitting.map(str::to_owned).collect());
        values.map(CompleteResult::new).map_err(|problem| ErrorData::internal_error(problem, None))
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = request.level;
        Ok(())
    }

    /// Methods below `test/` are answered with what they were given; others are not known.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if !request.method.starts_with("test/") {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        let params = request.params.unwrap_or_default();
        Ok(CustomResult::new(serde_json::json!({ "method": request.method, "params": params })))
    }

    /// Notifications below `notifications/test/` come back as they were.
    async fn on_custom_notification(&self, notification: CustomNotification, context: NotificationContext<RoleServer>) {
        if notification.method.starts_with("notifications/test/") {
            let back = CustomNotification::new(notification.method, notification.params);
            drop(context.peer.send_notification(ServerNotification::CustomNotification(back)).await);
        }
    }
}

/// The page that a cursor begins, and the cursor of the next one. Without a cursor, everything.
fn page<T>(all: Vec<T>, request: Option<PaginatedRequestParams>) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let Some(cursor) = request.and_then(|request| request.cursor) else { return Ok((all, None)) };
    let unknown = || ErrorData::invalid_params(format!("unknown cursor `{cursor}`"), None);
    let begin: usize = cursor.strip_prefix("from-").and_then(|at| at.parse().ok()).ok_or_else(unknown)?;
    let end = begin.saturating_add(PAGE);
    let next = (end < all.len()).then(|| format!("from-{end}"));
    Ok((all.into_iter().skip(begin).take(PAGE).collect(), next))
}
