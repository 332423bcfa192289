//! A session that the server has forgotten is begun anew: the client behind a relay cannot.

use std::time::Duration;

use super::driver::Driver;
use super::response::kind;
use crate::http::protocol::versions::SESSION;
use crate::message::Message;
use crate::message::id::Id;

/// How long the server may take to begin a session anew.
const RENEWAL_TIMEOUT: Duration = Duration::from_secs(30);

impl Driver {
    /// Begins the session anew, unless another request has done so since it was begun for the `times`th time.
    ///
    /// What the server kept for the session is gone; a request that it refused for that reason did nothing.
    pub(super) async fn renew(&self, times: u64) -> Result<(), String> {
        let _one = self.renewing.lock().await;
        if self.handshake().times != times {
            return Ok(());
        }
        match tokio::time::timeout(RENEWAL_TIMEOUT, self.renewed()).await {
            Ok(done) => done,
            Err(_) => Err("the server has forgotten the session, and does not begin another".into()),
        }
    }

    async fn renewed(&self) -> Result<(), String> {
        let refused = |text: String| format!("the server has forgotten the session, and begins no other: {text}");
        let opening = {
            let mut handshake = self.lock();
            handshake.id = None;
            handshake.version = None;
            handshake.opened.clone()
        };
        let opening = opening.ok_or_else(|| refused("it was never begun".into()))?;
        tracing::warn!("the server has forgotten the session; it is begun anew");
        let opening = opening.with_id(&Id::Text("phasegate-renewal".into()));
        let response = self.posted(&opening, false).await?;
        if !response.status().is_success() || kind(&response).is_none() {
            return Err(refused(format!("HTTP {}", response.status().as_u16())));
        }
        let id = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(ToOwned::to_owned);
        {
            let mut handshake = self.lock();
            handshake.id = id;
            handshake.times = handshake.times.saturating_add(1);
        }
        // The answer itself was given to the client long ago; it only has to be read to its end.
        let _ = response.bytes().await;
        let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        if let Ok(message) = Message::read(told) {
            self.told(message).await;
        }
        self.renewals.notify_waiters();
        Ok(())
    }
}
