// phasegate for Pi: passes every event on to the guard and does what it answers. Nothing is decided here.
import type { ExtensionAPI, ExtensionCommandContext, ExtensionContext } from "@earendil-works/pi-coding-agent";

/** The program that is the guard: an absolute path, or a name found through PATH. `phasegate init pi` writes this line. */
const COMMAND = "phasegate";
/** The version of this extension. */
const VERSION = "0.1.0";

// <bridge>
// </bridge>

/** What all copies of this extension in one process share, across reloads and sessions. */
interface Shared {
	/** The copy that guards the present session: the first that heard of its start. */
	owner?: object;
	/** The start that the owner heard of. */
	started?: object;
	/** The session of the agent that started this process; empty if none did. */
	inherited: string;
	/** The session that this process served before the present one. */
	previous?: string;
}

const KEY = Symbol.for("phasegate.pi");
const shared: Shared = ((globalThis as Record<symbol, unknown>)[KEY] ??= {
	inherited: process.env.PHASEGATE_SESSION ?? process.env.PI_SESSION_ID ?? "",
}) as Shared;

/** How much of a result's text the guard is sent: it reads the last line. */
const TAIL = 2048;
/** The commands that a person types. */
const COMMANDS = {
	phasegate: "Give phasegate a command: approve, skip, mode, activate, deactivate, reload",
	phase: "Show the skill and the phase that phasegate enforces, or give it a command",
	safety: "Show how phasegate guards this session, or give it a command",
};

type Fields = Record<string, unknown>;
type Block = { type: "text"; text: string };

/** A call that was let through: its arguments as they were decided, and what the agent is to read beside its result. */
interface Running {
	put: string;
	context?: string;
}

export default function phasegate(pi: ExtensionAPI): void {
	const self = {};
	const running = new Map<string, Running>();
	const hidden = new Set<string>();
	let pending: string[] = [];
	let status = "";
	let changed: string | undefined;
	let bridge: Bridge | undefined;

	const mine = (): boolean => (shared.owner ??= self) === self;

	const guard = (ctx: ExtensionContext): Bridge =>
		(bridge ??= new Bridge({ platform: "pi", command: COMMAND, shim: VERSION, directory: ctx.cwd }));

	const frame = (event: Fields, ctx: ExtensionContext, beside: Fields = {}): Fields => ({
		event,
		session: ctx.sessionManager.getSessionId(),
		cwd: ctx.cwd,
		mode: ctx.mode,
		hasUI: ctx.hasUI,
		...beside,
	});

	const notify = (text: string, level: "info" | "error", ctx: ExtensionContext): void => {
		if (ctx.hasUI) ctx.ui.notify(text, level);
		else process.stderr.write(`${text}\n`);
	};

	/** Does what an answer says beside its denial. Gives back what the agent is to read. */
	const taken = (reply: Fields | null, ctx: ExtensionContext): string | undefined => {
		const text = (key: string): string | undefined => (typeof reply?.[key] === "string" ? (reply[key] as string) : undefined);
		const stands = text("status");
		if (stands !== undefined && stands !== status) {
			status = stands;
			ctx.ui.setStatus("phasegate", status === "" ? undefined : status);
		}
		const told = text("tell");
		if (told) notify(told, "info", ctx);
		return text("context");
	};

	const later = (context: string | undefined): void => {
		if (context && !pending.includes(context)) pending.push(context);
	};

	/** Takes the tools that are denied whatever their arguments are out of the agent's list, and puts the others back. */
	const hide = async (ctx: ExtensionContext): Promise<void> => {
		// Versions that do not say how they run take the list up with the next prompt only: too late for a phase.
		const wanted = pi.getFlag("hide-forbidden") === true || process.env.PHASEGATE_HIDE_FORBIDDEN === "1";
		if (!wanted || ctx.mode === undefined || (status === "" && hidden.size === 0)) return;
		const names = [...new Set([...pi.getActiveTools(), ...hidden])];
		const calls = names.map((toolName) => frame({ type: "tool_call", toolName, input: null }, ctx, { loaded: loaded() }));
		const answers = await guard(ctx).probe(calls);
		if (!answers || answers.length !== names.length) return;
		hidden.clear();
		names.forEach((name, at) => answers[at]?.effect === "deny" && hidden.add(name));
		pi.setActiveTools(names.filter((name) => !hidden.has(name)));
	};

	const unhide = (): void => {
		if (hidden.size > 0) pi.setActiveTools([...new Set([...pi.getActiveTools(), ...hidden])]);
		hidden.clear();
	};

	/** Asks the user about a call. Whatever goes wrong is a no. */
	const asked = async (question: string, call: string, ctx: ExtensionContext): Promise<boolean> => {
		const answer = (outcome: string) =>
			guard(ctx).tell(frame({ type: "permission", toolCallId: call, outcome }, ctx));
		answer("asked");
		let yes = false;
		try {
			yes = (await ctx.ui.confirm("phasegate asks", question, { signal: ctx.signal })) === true;
		} finally {
			answer(yes ? "granted" : "refused");
		}
		return yes;
	};

	for (const [name, description] of Object.entries(COMMANDS)) {
		pi.registerCommand(name, {
			description,
			handler: async (args: string, ctx: ExtensionCommandContext): Promise<void> => {
				if (!mine()) return;
				const { deny, reply } = await guard(ctx).ask(frame({ type: "command", name, args }, ctx));
				later(taken(reply, ctx));
				if (deny) notify(deny, "error", ctx);
				if (name !== "safety" || args.trim() !== "") return;
				const tools = hidden.size > 0 ? `; hidden: ${[...hidden].join(", ")}` : "";
				notify(`phasegate: guard ${guard(ctx).trouble ?? "answers"}${tools}`, "info", ctx);
			},
		});
	}
	pi.registerFlag("hide-forbidden", {
		description: "Take tools that phasegate denies whatever their arguments are out of the agent's list",
		type: "boolean",
		default: false,
	});

	pi.on("session_start", async (event, ctx) => {
		if (shared.started === event && shared.owner !== self) return;
		shared.owner = self;
		shared.started = event;
		const session = ctx.sessionManager.getSessionId();
		const beside: Fields = {
			inherited: shared.inherited,
			previous: shared.previous,
			forked: ctx.sessionManager.getHeader?.()?.parentSession,
			loaded: loaded(),
		};
		process.env.PHASEGATE_SESSION = session;
		shared.previous = session;
		bridge?.close();
		bridge = undefined;
		running.clear();
		pending = [];
		const { deny, reply } = await guard(ctx).ask(frame({ ...event }, ctx, beside));
		later(taken(reply, ctx));
		if (deny) notify(deny, "error", ctx);
	});

	pi.on("session_shutdown", async (event, ctx) => {
		if (!mine()) return;
		unhide();
		if (event.reason !== "reload") await guard(ctx).ask(frame({ type: event.type, reason: event.reason ?? "quit" }, ctx));
		bridge?.close();
		bridge = undefined;
	});

	pi.on("tool_call", async (event, ctx) => {
		if (!mine()) return undefined;
		try {
			// What is decided is what runs: a change from now on throws, which makes the client block the call.
			freeze(event.input);
			if (changed) return { block: true, reason: changed };
			const put = JSON.stringify(event.input);
			const { toolName, toolCallId, input } = event;
			const call = frame({ type: event.type, toolName, toolCallId, input }, ctx, { loaded: loaded() });
			const { deny, reply } = await guard(ctx).ask(call);
			const context = taken(reply, ctx);
			if (deny !== undefined) {
				const question = typeof reply?.ask === "string" && ctx.hasUI ? reply.ask : undefined;
				if (question === undefined) return { block: true, reason: joined(deny, context) };
				if (!(await asked(question, toolCallId, ctx))) return { block: true, reason: `The user said no.\n\n${deny}` };
			}
			running.set(toolCallId, { put, context });
			return undefined;
		} catch (error) {
			return { block: true, reason: `phasegate: the extension failed, so the call is denied: ${String(error)}` };
		}
	});

	pi.on("tool_result", async (event, ctx) => {
		if (!mine()) return undefined;
		const { type, toolName, toolCallId, input, isError } = event;
		const call = running.get(toolCallId);
		running.delete(toolCallId);
		if (call && call.put !== JSON.stringify(input)) {
			changed = `phasegate: another extension changed the arguments of a call of ${toolName} after they were decided; ` +
				"every call is denied until the user starts Pi without that extension.";
			notify(changed, "error", ctx);
		}
		const content = tail(event.content);
		const { reply } = await guard(ctx).ask(frame({ type, toolName, toolCallId, input, content, isError }, ctx));
		const context = joined(call?.context ?? "", taken(reply, ctx));
		if (context === "") return undefined;
		return { content: [...event.content, { type: "text", text: context } as Block] };
	});

	pi.on("tool_execution_end", (event, ctx) => {
		// A result has been told already; what is left never ran.
		if (!mine() || !running.delete(event.toolCallId)) return;
		const { type, toolName, toolCallId, isError } = event;
		const result = { content: tail(event.result?.content) };
		guard(ctx).tell(frame({ type, toolName, toolCallId, result, isError }, ctx));
	});

	pi.on("input", async (event, ctx) => {
		if (!mine()) return undefined;
		const { type, text, source, streamingBehavior } = event;
		const { deny, reply } = await guard(ctx).ask(frame({ type, text, source, streamingBehavior }, ctx));
		later(taken(reply, ctx));
		if (deny) notify(deny, "error", ctx);
		// Without a guard that answers, what is typed goes on: whatever comes of it is denied.
		return deny && reply ? { action: "handled" as const } : undefined;
	});

	pi.on("before_agent_start", async (_event, ctx) => {
		if (!mine()) return undefined;
		await hide(ctx);
		const content = pending.join("\n\n");
		pending = [];
		return content === "" ? undefined : { message: { customType: "phasegate", content, display: false } };
	});

	pi.on("message_end", (event, ctx) => {
		if (!mine()) return;
		const message = event.message as unknown as Fields;
		if (message.role !== "assistant" && message.role !== "user") return;
		const { role, content, responseId, timestamp } = message;
		guard(ctx).tell(frame({ type: event.type, message: { role, content: texts(content), responseId, timestamp } }, ctx));
	});

	pi.on("turn_end", async (event, ctx) => {
		if (!mine()) return;
		guard(ctx).tell(frame({ type: event.type }, ctx));
		await hide(ctx);
	});

	for (const name of ["agent_end", "agent_settled", "session_before_compact", "session_compact", "session_tree"] as const) {
		pi.on(name as "agent_end", (event, ctx) => {
			if (mine()) guard(ctx).tell(frame({ type: event.type }, ctx));
		});
	}
}

/** Whether this copy is loaded in every client of the user's: `user`. Subagents are clients. */
function loaded(): string {
	const folder = process.env.PI_CODING_AGENT_DIR ?? `${process.env.HOME ?? ""}/.pi/agent`;
	const own = decodeURIComponent(import.meta.url).replace(/^file:\/\//, "");
	return ["extensions", "npm", "git"].some((place) => own.startsWith(`${folder}/${place}/`)) ? "user" : "project";
}

/** Freezes a value and all that is in it. */
function freeze(value: unknown): void {
	if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
	Object.freeze(value);
	Object.values(value).forEach(freeze);
}

function joined(text: string, context: string | undefined): string {
	return [text, context ?? ""].filter((part) => part !== "").join("\n\n");
}

/** The text blocks of a message. */
function texts(content: unknown): unknown {
	if (!Array.isArray(content)) return content;
	return content.filter((block: Fields) => block?.type === "text").map(({ type, text }: Fields) => ({ type, text }));
}

/** The end of the last text of a result. */
function tail(content: unknown): Block[] {
	const blocks = texts(content);
	const last = Array.isArray(blocks) ? (blocks.at(-1) as Block | undefined) : undefined;
	return typeof last?.text === "string" ? [{ type: "text", text: last.text.slice(-TAIL) }] : [];
}
