/**
 * Callers who signed in before from the network of a call. Strangers behind the same address can use up the limits that all of them share, so a known
 * caller has limits of its own.
 * @module
 */

import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { formatErrorChain } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { MINUTE } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { RouteContext } from '#platform/http/openapi.ts';
import { callerOrigin } from '#platform/http/rate-limit.ts';
import { admissionObject } from '#platform/objects.ts';
import { sharedNetworkOf } from '#rules/access/networks.ts';
import type { SessionMethod } from '#rules/access/sessions.ts';
import { knownNetworks, learnNetworks } from './tries.ts';

const networkOf = (c: RouteContext): string => sharedNetworkOf(callerOrigin(c).ip);

/** Object of a passkey or wallet, which lists networks, so that no other caller displaces one, or of a network, which lists ways to sign in. */
const objectOf = (ctx: Ctx, subject: string) => admissionObject(ctx, `caller:${sha256Hex(utf8(subject)).slice(0, 32)}`);

interface Ways {
  methods: readonly string[];
  until: number;
}

const NETWORKS_MAX = 1000;
const READ_MS = MINUTE;
/** Ways to sign in by network. Read once a minute, so that refused calls from a network of no sign-in cause no further ones. */
const read = new Memory<string, Ways>(NETWORKS_MAX);

/** True if a person signed in from the network of the caller within 90 days, in one of these ways. False if that cannot be read. */
export async function isKnownNetwork(c: RouteContext, ways?: readonly SessionMethod[]): Promise<boolean> {
  const { ctx } = c.var;
  const network = networkOf(c);
  const found = read.get(network);
  const { methods } = found && ctx.wallNow < found.until ? found : await readWays(ctx, network);
  return ways ? ways.some((way) => methods.includes(way)) : methods.length > 0;
}

async function readWays(ctx: Ctx, network: string): Promise<Ways> {
  const ways = { methods: await orNone(ctx, objectOf(ctx, network).knownNetworks(ctx.wallNow)), until: ctx.wallNow + READ_MS };
  read.set(network, ways);
  return ways;
}

/** True if the subject signed in from the network of the caller within 90 days. False if that cannot be read. */
export const isKnownCaller = async (c: RouteContext, subject: string): Promise<boolean> =>
  (await orNone(c.var.ctx, objectOf(c.var.ctx, subject).knownNetworks(c.var.ctx.wallNow))).includes(networkOf(c));

/** True if the person with this email signed in from the network of the caller, in whatever way. False if that cannot be read. */
export const isKnownPerson = async (c: RouteContext, email: string): Promise<boolean> =>
  (await orNone(c.var.ctx, knownNetworks(c.var.ctx, email))).includes(networkOf(c));

const orNone = (ctx: Ctx, known: Promise<string[]>): Promise<string[]> =>
  known.catch((error: unknown): string[] => {
    ctx.note(`known callers not read: ${formatErrorChain(error)}`);
    return [];
  });

/** Knows a subject that signed in from the network of the caller. A failure leaves it under the shared limits. */
export function learnCaller(c: RouteContext, subject: string): void {
  const { ctx } = c.var;
  const learned = objectOf(ctx, subject).learnNetworks([networkOf(c)], ctx.wallNow);
  ctx.defer(learned.catch((error: unknown) => ctx.note(`caller not learned: ${formatErrorChain(error)}`)));
}

/** Knows the network of a sign-in, for the person and for the way. */
export async function learnSignIn(ctx: Ctx, email: string | null, { ip, method }: { ip: string; method: SessionMethod }): Promise<void> {
  const network = sharedNetworkOf(ip);
  const learned = objectOf(ctx, network).learnNetworks([method], ctx.wallNow);
  const noted = learned.catch((error: unknown) => ctx.note(`network not learned: ${formatErrorChain(error)}`));
  await Promise.all([learnNetworks(ctx, email, [ip]), noted]);
  read.delete(network);
}
