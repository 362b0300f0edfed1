import type { z } from 'zod';
import { SECOND } from '#core/time.ts';
import type { Config } from '#platform/context.ts';
import type { PlatformAnswer } from '#rules/members/placement.ts';
import type { DeliveryTarget, IdentityProvider } from '#rules/payment-terms.ts';
import type { Pace } from './pace.ts';

export interface PlatformDesk {
  config: Config;
  now(): number;
  leftMs(): number;
  pace: Pace;
}

export interface Giving {
  target: DeliveryTarget;
  providerUserId: string;
  productName: string;
  inviteUrl: string | null;
  /** OAuth2 token that allows adding the person directly, null if none. */
  grant: string | null;
  endsAt: number | null;
  /** Stores an invitation before the person is notified, so that no second one is created. */
  storeInvite(inviteUrl: string): Promise<void>;
}

interface Uninviting {
  target: DeliveryTarget;
  inviteUrl: string;
}

export interface Removing {
  target: DeliveryTarget;
  providerUserId: string;
  /** True if another membership grants the same access: the person stays, and a partial removal by an earlier attempt is undone. */
  staysMember: boolean;
}

interface PlatformCheck {
  ok: boolean;
  detail: string;
  botUsername: string | null;
}

export interface MessagingPlatform {
  title: string;
  targetSchema: z.ZodObject<{ provider: z.ZodLiteral<IdentityProvider> }>;
  identity: {
    variables: readonly (keyof Config)[];
    link(config: Config, sessionId: string): string;
    secrets(config: Config): string | undefined;
  };
  takesGrants?: true;
  needs: readonly (keyof Config)[];
  /** Queue binding. The queue is named `svc-` and the platform. */
  queue: Uppercase<IdentityProvider>;
  /** Checks that all parts of a target belong to the claimed chat or guild. Only for platforms with targets of several parts. */
  checkTarget?(desk: PlatformDesk, target: DeliveryTarget): Promise<PlatformAnswer>;
  give(desk: PlatformDesk, giving: Giving): Promise<PlatformAnswer>;
  /** Idempotent, also if the chat or guild is gone. */
  revokeInvite(desk: PlatformDesk, uninviting: Uninviting): Promise<PlatformAnswer>;
  removeMember(desk: PlatformDesk, removing: Removing): Promise<PlatformAnswer>;
  check(desk: PlatformDesk): Promise<PlatformCheck>;
}

const CALL_MS = 10 * SECOND;
const REASON_MAX = 200;

/** Request to a platform. `secret`: must be removed from error texts. */
interface PlatformRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: object;
  secret: string;
}

export interface PlatformResponse {
  status: number;
  body: unknown;
  retryAfter: string | null;
  failure: string | null;
  /** Seconds until a call is allowed, if none was made. */
  waitSeconds: number | null;
}

const UNASKED = { status: 0, body: null, retryAfter: null } as const;

/** Makes one paced call, without redirects, within ten seconds. Error texts contain no URL, because some URLs contain a token. */
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

/** Classifies a failure: 429, platform faults and timeouts are temporary, refusals are permanent. */
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

export const describeFailure = (answer: ReturnType<typeof platformFailure>): string =>
  answer.kind === 'unasked' ? `Not called: the platform is rate limiting for ${answer.afterSeconds} s.` : answer.reason;
