export { type Client, createClient } from './client.ts';
export { SvcError } from './errors.ts';
export type { Access, ProtectOptions } from './protect.ts';
export type { Answer, CallOptions, ClientOptions, ResponseFacts } from './transport.ts';
export type * from './types.ts';
