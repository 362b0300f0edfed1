import { z } from 'zod';

/**
 * One line for every variable of a deployment: what it is, when it is needed, and what a value must be. The worker reads its
 * environment by it, `npm run check-config` checks one before it is deployed, and the README's table is made of it.
 */
export interface Variable<S extends z.ZodType = z.ZodType> {
  schema: S;
  /** What a value looks like, in words that a finding may repeat. */
  form: string;
  meaning: string;
  /** Always, on mainnet, or together with another one; otherwise never. */
  needed?: 'always' | 'on mainnet' | { with: string };
  /** What it is where it is not set. */
  fallback?: string;
  /** Put by `wrangler secret put`, and shown nowhere. */
  isSecret?: true;
  /** For a local machine: on mainnet anything but the fallback is refused. */
  isLocalOnly?: true;
}

/** An address of this machine. */
export const LOOPBACK = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/;

export const variableOf = <S extends z.ZodType>(
  schema: S,
  form: string,
  meaning: string,
  rest: Omit<Variable, 'schema' | 'form' | 'meaning'> = {},
) => ({ schema, form, meaning, ...rest });

/** Ed25519 or MAC keys of a ring. */
export const seeds = z.string().regex(/^[\w-]{43}(,[\w-]{43})*$/);
export const SEEDS = '32-byte base64url seeds, comma-separated';

export const count = (fallback: number) => z.coerce.number().int().nonnegative().default(fallback);
