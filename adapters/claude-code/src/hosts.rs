//! The hosts of the family. A new one is its table in `hosts/` and a line in the list below.

use phasegate_adapter::Registered;

use crate::hooks::Hooks;

macro_rules! hosts {
    ($($name:ident: $module:ident),* $(,)?) => {
        $(
            pub(crate) mod $module;

            #[doc = concat!("The adapter of the host in `hosts/", stringify!($module), ".rs`.")]
            pub static $name: Hooks = Hooks { host: &$module::HOST };

            inventory::submit!(Registered(&$name));
        )*
    };
}

hosts! {
    CLAUDE_CODE: claude_code,
}
