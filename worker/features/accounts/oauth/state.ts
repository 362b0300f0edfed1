import { z } from 'zod';
import { pepperedHashes, sha256 } from '#core/crypto.ts';
import { base64url, hex, utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { SignInProvider } from '#rules/admission.ts';
import { randomText, readSignedValue, signValue } from '../signed-values.ts';
import type { Attempt } from './provider.ts';
import { callbackUrlOf } from './registry.ts';

export const MODES = ['login', 'register'] as const;
/** Page that begins a sign-in. For `page`, a page of ours with forms, the callback sets the session cookie. */
export const SURFACES = ['dashboard', 'checkout', 'page'] as const;
const LIFE_MS = 10 * MINUTE;
const COOKIE = '__Host-svc_oauth';
const PURPOSE = 'sign-in state';

/** Purpose of a started sign-in. Carried in the signed state, so that starting a sign-in stores nothing. */
const Begun = z.object({
  id: z.string(),
  provider: z.string(),
  mode: z.enum(MODES),
  surface: z.enum(SURFACES),
  next: z.string(),
  accountId: z.string().nullable(),
  /** Token version of that account at the start: a change that ends sessions ends this state too. */
  tokenVersion: z.number().nullable(),
  /** Session that links a provider. Its end ends this state too. */
  sessionId: z.string().nullable(),
  /** True if the person had no factor at the start. One that was added meanwhile was not proven. */
  isWithoutFactor: z.boolean(),
  binding: z.string(),
  expiresAt: z.number(),
});
export type BegunSignIn = Omit<z.infer<typeof Begun>, 'accountId'> & { accountId: AccountId | null };

const bindingOf = (secret: string): string => base64url.encode(sha256(utf8(secret)));

function secretIn(cookies: string | undefined): string | null {
  const [, secret] = new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]{43})(?:;|$)`).exec(cookies ?? '') ?? [];
  return secret ?? null;
}

/**
 * Issues a signed state and the cookie that binds the state to this browser. A browser that started another sign-in retains its cookie, so
 * that two tabs do not invalidate each other.
 */
export function beginState(
  ctx: Ctx,
  asked: Pick<BegunSignIn, 'provider' | 'mode' | 'surface' | 'next' | 'accountId' | 'tokenVersion' | 'sessionId' | 'isWithoutFactor'>,
  cookies: string | undefined,
): { attempt: Attempt; cookie: string } {
  const secret = secretIn(cookies) ?? randomText();
  const begun: BegunSignIn = { ...asked, id: randomText(), binding: bindingOf(secret), expiresAt: ctx.wallNow + LIFE_MS };
  const state = signValue(ctx, PURPOSE, begun);
  const cookie = `${COOKIE}=${secret}; Path=/; Max-Age=${LIFE_MS / 1000}; HttpOnly; Secure; SameSite=Lax`;
  return { attempt: attemptOf(ctx, begun, state), cookie };
}

/** Derives verifier and nonce from the id and a pepper: only this service can compute them, and nothing is stored. */
function attemptOf(ctx: Ctx, { id, provider }: BegunSignIn, state: string, pepper = 0): Attempt {
  const of = (purpose: string): string => base64url.encode(hex.decode(pepperedHashes(ctx.config.PEPPER, purpose, id)[pepper]!));
  const verifier = of('sign-in verifier');
  return {
    redirectUri: callbackUrlOf(ctx, provider as SignInProvider),
    state,
    nonce: of('sign-in nonce'),
    verifier,
    challenge: base64url.encode(sha256(utf8(verifier))),
  };
}

const invalidState = (): ApiError => new ApiError('invalid_state');

/** Verifies a returned state: signature, provider, expiry and browser binding. Throws 400 invalid_state. */
export function readState(
  ctx: Ctx,
  state: string | undefined,
  { provider, cookies }: { provider: SignInProvider; cookies: string | undefined },
): { begun: BegunSignIn; attempt: Attempt } {
  const read = readSignedValue(ctx, PURPOSE, state);
  if (!read) throw invalidState();
  const begun = Begun.parse(read.value) as BegunSignIn;
  const secret = secretIn(cookies);
  if (begun.provider !== provider || ctx.wallNow > begun.expiresAt || secret === null || bindingOf(secret) !== begun.binding)
    throw invalidState();
  return { begun, attempt: attemptOf(ctx, begun, state!, read.pepper) };
}
