import type { z } from 'zod';
import { SECOND } from '#core/time.ts';
import type { Config } from '#platform/context.ts';
import type { PlatformAnswer } from '#rules/members/placement.ts';
import type { DeliveryPlace, IdentityProvider } from '#rules/payment-terms.ts';
import type { Pace } from './pace.ts';

/** What a call of a platform may use. */
export interface PlatformDesk {
  config: Config;
  /** Epoch milliseconds of wall time. */
  now(): number;
  leftMs(): number;
  pace: Pace;
}

/** A place to give to one person. */
export interface Giving {
  place: DeliveryPlace;
  providerUserId: string;
  productName: string;
  /** The invitation that an earlier attempt made; null: none did. */
  inviteUrl: string | null;
  /** An OAuth2 token of the person, by which they can be added themselves; null: they gave none. */
  grant: string | null;
  /** When access is over for certain, epoch milliseconds; null: never. */
  endsAt: number | null;
  /** Stores an invitation before the person is told of it, so that no second one is made. */
  keepInvite(inviteUrl: string): Promise<void>;
}

/** An invitation to take back, so that it lets no person in any more. */
interface Uninviting {
  place: DeliveryPlace;
  inviteUrl: string;
}

/** A person whose place is taken away. */
export interface Removing {
  place: DeliveryPlace;
  providerUserId: string;
  /** Another membership of theirs gives the same place: they stay, and what an earlier attempt left undone of their removal is undone. */
  staysMember: boolean;
}

/** What `check` found out about the operator's bot. */
interface PlatformCheck {
  ok: boolean;
  detail: string;
  botUsername: string | null;
}

/** A messaging platform, as one row: who a buyer is there, and their place in a chat or guild. Expected failures are answers; nothing throws. */
export interface MessagingPlatform {
  /** As people call it, in every language. */
  title: string;
  /** As a product names a place there. */
  place: z.ZodObject<{ provider: z.ZodLiteral<IdentityProvider> }>;
  /** The handshake: the link a buyer follows, the variables it is made of, and the secrets its connector shows. */
  identity: {
    variables: readonly (keyof Config)[];
    link(config: Config, sessionId: string): string;
    secrets(config: Config): string | undefined;
  };
  /** Its connector may bring a grant by which a buyer can be added. */
  takesGrants?: true;
  /** Variables without which nothing is delivered. */
  needs: readonly (keyof Config)[];
  /** The binding of its queue, whose name is `svc-` and the platform's. */
  queue: Uppercase<IdentityProvider>;
  /** Whether all that a place names is of the chat or guild that is claimed. Only of a platform whose places name more than that. */
  checkPlace?(desk: PlatformDesk, place: DeliveryPlace): Promise<PlatformAnswer>;
  give(desk: PlatformDesk, giving: Giving): Promise<PlatformAnswer>;
  /** Doing it twice is harmless, and so is doing it where the chat or guild is gone. */
  revokeInvite(desk: PlatformDesk, uninviting: Uninviting): Promise<PlatformAnswer>;
  /** The same. */
  removeMember(desk: PlatformDesk, removing: Removing): Promise<PlatformAnswer>;
  check(desk: PlatformDesk): Promise<PlatformCheck>;
}

const CALL_MS = 10 * SECOND;
const REASON_MAX = 200;

/** One request as a platform wants it. `secret`: what must stand in no reason. */
interface PlatformRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: object;
  secret: string;
}

/** What came back; status 0 where nothing did. */
export interface PlatformResponse {
  status: number;
  body: unknown;
  retryAfter: string | null;
  /** Why nothing came back. */
  failure: string | null;
  /** Where it was not asked: so many seconds until it may be. */
  waitSeconds: number | null;
}

const UNASKED = { status: 0, body: null, retryAfter: null } as const;

/** One call in its turn, no redirect followed, ten seconds at most. What it throws names no address, because some hold a token. */
export async function callPlatform(
  desk: PlatformDesk,
  { method, url, headers, body }: Omit<PlatformRequest, 'secret'>,
): Promise<PlatformResponse> {
  const waitMs = await desk.pace.turn({ now: () => desk.now(), leftMs: () => Math.max(0, desk.leftMs() - CALL_MS) });
  if (waitMs !== null) return { ...UNASKED, failure: null, waitSeconds: Math.ceil(waitMs / SECOND) };
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(Math.max(1, Math.min(CALL_MS, desk.leftMs()))),
    });
    const answer: unknown = await response.json().catch(() => null);
    return { status: response.status, body: answer, retryAfter: response.headers.get('retry-after'), failure: null, waitSeconds: null };
  } catch (error) {
    const failure = error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'connection failed';
    return { ...UNASKED, failure, waitSeconds: null };
  }
}

/** A failure as an attempt is told of it: 429, faults of the platform and silence pass; what it refuses it refuses again. */
export function platformFailure(
  { pace, now }: PlatformDesk,
  response: PlatformResponse,
  { said, retryAfterSeconds, secret }: { said: string; retryAfterSeconds: number | null; secret: string },
): Exclude<PlatformAnswer, { kind: 'done' | 'absent' }> {
  const { status, failure, waitSeconds } = response;
  if (waitSeconds !== null) return { kind: 'unasked', afterSeconds: waitSeconds };
  if (failure !== null) return { kind: 'later', reason: failure };
  const reason = `${status} ${said}`.replaceAll(secret, '[token]').trim().slice(0, REASON_MAX);
  if (status === 429) {
    const header = Number(response.retryAfter ?? Number.NaN);
    const afterSeconds = Math.min(86_400, retryAfterSeconds ?? (Number.isFinite(header) && header > 0 ? header : 1));
    pace.hold(now(), afterSeconds);
    return { kind: 'later', reason, afterSeconds };
  }
  return status >= 500 || status === 408 ? { kind: 'later', reason } : { kind: 'refused', reason };
}

/** A failure in words. */
export const wordsOfFailure = (answer: ReturnType<typeof platformFailure>): string =>
  answer.kind === 'unasked' ? `Not called: the platform is rate limiting for ${answer.afterSeconds} s.` : answer.reason;
