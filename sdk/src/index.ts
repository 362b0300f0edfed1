export type { Access } from './access/access.ts';
export type { ProtectOptions } from './access/protect.ts';
export { type Client, createClient } from './api/client.ts';
export { SvcError } from './api/errors.ts';
export type { Answer, CallOptions, ClientOptions, ResponseFacts } from './api/transport.ts';
export type * from './api/types.ts';
