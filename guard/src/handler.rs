//! The handler that is served: calls and lists of tools go through the gate, everything else to the handler within.

#![expect(deprecated, reason = "what earlier revisions can ask is passed on as well")]

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam, CompleteRequestParams,
    CompleteResult, CustomNotification, CustomRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskResult,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListSkillsResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
    ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult, ReadResourceRequestParams, ReadResourceResponse,
    ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};

use crate::guarded::{Guarded, passed};
use crate::sync::lock;
use phasegate_mcp::message::{own, tool_call};

type Context = RequestContext<RoleServer>;
type Notice = NotificationContext<RoleServer>;
type Answer<T> = Result<T, ErrorData>;

impl<H: ServerHandler> ServerHandler for Guarded<H> {
    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Answer<CallToolResponse> {
        self.call(request, context).await
    }

    async fn list_tools(&self, request: Option<PaginatedRequestParams>, context: Context) -> Answer<ListToolsResult> {
        let first = request.as_ref().is_none_or(|request| request.cursor.is_none());
        let mut page = self.inner.list_tools(request, context.clone()).await?;
        if let Ok(session) = self.session(&context.extensions, passed(&context.meta)) {
            let takes = self.takes_handles(&context.extensions);
            self.gate.list(&mut page, first, &session, takes).await;
        }
        Ok(page)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        if self.gate.own_tools && own::is_own(name) {
            let own = own::tools().into_iter().find(|tool| tool.get("name").is_some_and(|own| own == name));
            return own.and_then(|tool| serde_json::from_value(tool).ok());
        }
        self.inner.get_tool(name)
    }

    async fn get_task(&self, request: GetTaskParams, context: Context) -> Answer<GetTaskResult> {
        let peer = context.peer.clone();
        let result = self.inner.get_task(request, context).await?;
        if let Some((session, moved)) = self.gate.shared.task(&result.task).await {
            self.announce(moved, &session.id, Some(&peer)).await;
        }
        Ok(result)
    }

    async fn initialize(&self, request: InitializeRequestParams, context: Context) -> Answer<InitializeResult> {
        let mut info = self.inner.initialize(request, context).await?;
        self.gate.widen(&mut info.capabilities);
        self.connected();
        Ok(info)
    }

    fn negotiate_initialize(&self, request: &InitializeRequestParams) -> Answer<InitializeResult> {
        let mut info = self.inner.negotiate_initialize(request)?;
        self.gate.widen(&mut info.capabilities);
        Ok(info)
    }

    async fn discover(&self, context: Context) -> Answer<DiscoverResult> {
        let mut info = self.inner.discover(context).await?;
        self.gate.widen(&mut info.capabilities);
        Ok(info)
    }

    fn get_info(&self) -> ServerConfig {
        let mut info = self.inner.get_info();
        self.gate.widen(&mut info.capabilities);
        info
    }

    /// A method that a less exact reader takes for a tool call is not passed on: it would not be decided.
    async fn on_custom_request(&self, request: CustomRequest, context: Context) -> Answer<CustomResult> {
        if tool_call::passes_for_a_call(&request.method) {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        self.inner.on_custom_request(request, context).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let accepted = self.inner.accepted_subscription_filter(requested);
        if !self.gate.hide_forbidden || requested.tools_list_changed != Some(true) {
            return accepted;
        }
        let mut accepted = accepted.unwrap_or_default();
        accepted.tools_list_changed = Some(true);
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        let request = context.request_context();
        let session = self.session(&request.extensions, passed(&request.meta)).ok();
        let follows = self.gate.hide_forbidden && context.accepted().tools_list_changed == Some(true);
        let Some(session) = session.filter(|_| follows) else { return self.inner.listen(context).await };
        let (sink, listeners) = (context.sink().clone(), &self.gate.shared.listeners);
        lock(listeners).push((session.id.clone(), sink.clone()));
        let ended = self.inner.listen(context).await;
        lock(listeners).retain(|(id, other)| *id != session.id || other.id() != sink.id());
        ended
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.inner.supported_protocol_versions()
    }

    async fn ping(&self, context: Context) -> Answer<()> {
        self.inner.ping(context).await
    }

    async fn complete(&self, request: CompleteRequestParams, context: Context) -> Answer<CompleteResult> {
        self.inner.complete(request, context).await
    }

    async fn set_level(&self, request: SetLevelRequestParams, context: Context) -> Answer<()> {
        self.inner.set_level(request, context).await
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, context: Context) -> Answer<GetPromptResponse> {
        self.inner.get_prompt(request, context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<ListPromptsResult> {
        self.inner.list_prompts(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<ListResourcesResult> {
        self.inner.list_resources(request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<ListResourceTemplatesResult> {
        self.inner.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Answer<ReadResourceResponse> {
        self.inner.read_resource(request, context).await
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: Context) -> Answer<()> {
        self.inner.subscribe(request, context).await
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, context: Context) -> Answer<()> {
        self.inner.unsubscribe(request, context).await
    }

    async fn update_task(&self, request: UpdateTaskParams, context: Context) -> Answer<()> {
        self.inner.update_task(request, context).await
    }

    async fn cancel_task(&self, request: CancelTaskParams, context: Context) -> Answer<()> {
        self.inner.cancel_task(request, context).await
    }

    async fn list_skills(&self, request: Option<PaginatedRequestParams>, context: Context) -> Answer<ListSkillsResult> {
        self.inner.list_skills(request, context).await
    }

    async fn get_skill(&self, request: GetSkillRequestParams, context: Context) -> Answer<GetSkillResult> {
        self.inner.get_skill(request, context).await
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: Context,
    ) -> Answer<ReadResourceDirectoryResult> {
        self.inner.read_resource_directory(request, context).await
    }

    async fn on_cancelled(&self, notification: CancelledNotificationParam, context: Notice) {
        self.inner.on_cancelled(notification, context).await;
    }

    async fn on_progress(&self, notification: ProgressNotificationParam, context: Notice) {
        self.inner.on_progress(notification, context).await;
    }

    async fn on_initialized(&self, context: Notice) {
        self.inner.on_initialized(context).await;
    }

    async fn on_roots_list_changed(&self, context: Notice) {
        self.inner.on_roots_list_changed(context).await;
    }

    async fn on_custom_notification(&self, notification: CustomNotification, context: Notice) {
        self.inner.on_custom_notification(notification, context).await;
    }
}
