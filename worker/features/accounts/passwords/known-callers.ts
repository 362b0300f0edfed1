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
import { ipOf } from '#platform/http/rate-limit.ts';
import { admissionObject } from '#platform/objects.ts';
import { sharedNetworkOf } from '#rules/access/networks.ts';

interface Known {
  subjects: ReadonlySet<string>;
  until: number;
}

const NETWORKS_MAX = 1000;
const READ_MS = MINUTE;
/** Subjects by network. Read once a minute, so that refused calls cause no further ones. */
const read = new Memory<string, Known>(NETWORKS_MAX);

const hashed = (text: string): string => sha256Hex(utf8(text)).slice(0, 32);
const networkOf = (c: RouteContext): string => sharedNetworkOf(ipOf(c) ?? 'local');

/** Object of a network. It lists hashes of subjects as the object of an email address lists networks. */
const objectOf = (ctx: Ctx, network: string) => admissionObject(ctx, `network:${hashed(network)}`);

/** True if the subject signed in from the network of the caller within 90 days. False if that cannot be read. */
export async function isKnownCaller(c: RouteContext, subject: string): Promise<boolean> {
  const { ctx } = c.var;
  const network = networkOf(c);
  const found = read.get(network);
  const known = found && ctx.wallNow < found.until ? found : await readKnown(ctx, network);
  return known.subjects.has(hashed(subject));
}

async function readKnown(ctx: Ctx, network: string): Promise<Known> {
  const subjects = await objectOf(ctx, network)
    .knownNetworks(ctx.wallNow)
    .catch((error: unknown) => {
      ctx.note(`known callers not read: ${formatErrorChain(error)}`);
      return [];
    });
  const known = { subjects: new Set(subjects), until: ctx.wallNow + READ_MS };
  read.set(network, known);
  return known;
}

/** Knows subjects that signed in from the network of the caller. A failure leaves them under the shared limits. */
export function learnCaller(c: RouteContext, subjects: readonly string[]): void {
  const { ctx } = c.var;
  const network = networkOf(c);
  const learn = async () => {
    await objectOf(ctx, network).learnNetworks(subjects.map(hashed), ctx.wallNow);
    read.delete(network);
  };
  ctx.defer(learn().catch((error: unknown) => ctx.note(`caller not learned: ${formatErrorChain(error)}`)));
}
