import { z } from 'zod';

/**
 * Definition of a deployment variable: purpose, condition and format. The worker reads its environment by these, `npm run check-config`
 * validates one before deployment, and the variables table is generated from them.
 */
export interface Variable<S extends z.ZodType = z.ZodType> {
  schema: S;
  form: string;
  meaning: string;
  /** Condition under which the variable is required. Absent: optional. */
  needed?: 'always' | 'on mainnet' | { with: string };
  fallback?: string;
  isSecret?: true;
  /** Local machine only: mainnet rejects any value except the default. */
  isLocalOnly?: true;
}

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
