import type {
  CallToolResult,
  GetPromptResult,
  InputRequiredResult,
  Prompt as PromptDefinition,
  Server,
  ServerContext,
  Tool,
} from '@modelcontextprotocol/server';
import type { PersonReach } from '../../engine/person/questions/question.ts';
import type { Caller, CallOperation, ReportProgress } from '../../engine/call/call.ts';
import type { ConnectedClient } from '../../engine/call/connected-client.ts';
import type { PersonDoor } from './elicit/elicit.ts';
import type { ResourceOperations } from './resources/operations.ts';
import type { ToolTable } from './tools.ts';

/** Everything one MCP server shows. Built once; every connection, session and request is served from it. */
export interface McpSurface {
  readonly name: string;
  readonly version: string;
  /** For people: how the server calls itself, and what it is, in one sentence. */
  readonly title?: string;
  readonly description?: string;
  readonly instructions: string;
  /** The access of all callers of this surface. */
  readonly may: Caller['may'];
  /** Whether this surface has a tool of this name, or a resource scheme (`shell://`). */
  readonly offers: (name: string) => boolean;
  readonly tools: ToolTable;
  readonly prompts: readonly McpPrompt[];
  /** Absent: the server declares no resources. */
  readonly resources?: McpResources;
  /** Absent: clients are never asked to show the person a link. */
  readonly person?: PersonDoor;
  /** A client that had a session has ended it. */
  readonly clientGone?: (key: string) => void;
  /** Adds what no operation needs. Runs on each new server before it connects. */
  readonly extend?: (server: Server) => void;
}

/** One call as a tool sees it. */
export interface ToolRequest {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly progress: ReportProgress;
  /** A way to the person, where the client offers one. */
  readonly person?: PersonReach | undefined;
  /** The protocol's own view, for tools that need more of it than a call carries. */
  readonly context: ServerContext;
}

export interface McpTool {
  readonly name: string;
  /** Built when first asked for, then kept. */
  readonly definition: () => Tool;
  readonly run: (
    input: Readonly<Record<string, unknown>>,
    request: ToolRequest,
  ) => Promise<CallToolResult | InputRequiredResult>;
}

export interface McpPrompt {
  readonly definition: PromptDefinition;
  readonly get: (
    values: Readonly<Record<string, string | undefined>>,
    context: ServerContext,
  ) => GetPromptResult | InputRequiredResult | Promise<GetPromptResult | InputRequiredResult>;
}

/** Where resources come from, and who is told of their changes. */
export interface McpResources {
  readonly operations: ResourceOperations;
  readonly call: CallOperation;
  /** A client that stays: a connection, a session of HTTP, or one stream of notifications. Its door disposes it. */
  readonly connect: (kind: 'connection' | 'session' | 'listener', principal: string) => ConnectedClient;
}

export const hasResources = (surface: McpSurface): surface is McpSurface & { readonly resources: McpResources } =>
  surface.resources !== undefined;
