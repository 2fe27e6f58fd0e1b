import type { z } from 'zod';
import type { AnyOperation } from '../../../engine/call/operation.ts';

/** An operation with an answer of this shape. */
type Gives<Out> = AnyOperation & { readonly output: z.ZodType<Out> };

interface Described {
  readonly name: string;
  readonly description: string;
  readonly mime_type: string;
}

export interface ResourceList {
  readonly resources: readonly (Described & { readonly uri: string })[];
  readonly next_cursor?: string | undefined;
  readonly warnings?: readonly object[] | undefined;
}

export interface ResourceTemplates {
  readonly templates: readonly (Described & { readonly uri_template: string })[];
}

export interface ResourceContent {
  readonly uri: string;
  readonly mime_type: string;
  readonly text?: string | undefined;
  /** Base64. */
  readonly blob?: string | undefined;
  readonly meta: Readonly<Record<string, unknown>>;
}

export interface Subscription {
  readonly uri: string;
  readonly sub_id: string;
}

/** What serves the protocol's methods for resources, each through the one door that all calls take. */
export interface ResourceOperations {
  readonly list: Gives<ResourceList>;
  readonly templates: Gives<ResourceTemplates>;
  readonly read: Gives<ResourceContent>;
  readonly subscribe: Gives<Subscription>;
  readonly unsubscribe: AnyOperation;
}

export type { Gives };
