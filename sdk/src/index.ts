export type { Access } from './access.ts';
export { type Client, createClient } from './client.ts';
export { SvcError } from './errors.ts';
export type { ProtectOptions } from './protect.ts';
export type { Answer, CallOptions, ClientOptions, ResponseFacts } from './transport.ts';
export type * from './types.ts';
