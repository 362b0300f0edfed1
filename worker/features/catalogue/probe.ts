import { MINUTE } from '#core/time.ts';
import { isPayoutWallet } from '#features/rails/store.ts';
import { readChallenge } from '#features/settlements/challenge.ts';
import { hasX402, type Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import { emptyOrBound, type Swept } from '#platform/db/sweeps.ts';
import type { ListingRow } from '#platform/db/tables/office/listings.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { probeShop, type SeenAnswer } from '#platform/providers/shop-probe.ts';
import { BAZAAR, describeCall } from '#protocols/x402/bazaar.ts';
import { type HttpRoute, isToolRoute } from '#protocols/x402/discovery.ts';
import { isOnOrigin } from '#protocols/x402/origins.ts';
import { type PaymentRequired, parsePaymentRequired } from '#protocols/x402/wire.ts';
import { isForeign, nextProbeAt, type ProbeReason, type ProbeRequest, type Shown, UNPAID_MS } from '#rules/catalogue/listing.ts';
import { shownText, weighWords } from '#rules/catalogue/words.ts';
import { requestOfRoute } from './probe-request.ts';
import { endListing, type Probed, saveProbe, takeDueProbes } from './store.ts';

const DUE_MAX = 20;
const LANES = 5;
const HOLD_MS = 10 * MINUTE;

/** Probes the resources that are due, each with one request. */
export async function sweepProbes(ctx: Shard): Promise<Swept> {
  if (!hasX402(ctx.config)) return { taken: 0, end: 'paused' };
  const { taken, due } = await takeDueProbes(ctx, HOLD_MS, DUE_MAX);
  await forEach(ctx, due, (probed) => probeListing(ctx, probed), LANES);
  return { taken, end: emptyOrBound(taken < DUE_MAX) };
}

/** Facts that a good probe shows. */
interface Seen {
  resource: string;
  origin: string;
  shown: Shown;
  words: Record<string, number>;
}
type Verdict = { ok: true; seen: Seen } | { ok: false; reason: ProbeReason; detail: string };

const refuse = (reason: ProbeReason, detail: string): Verdict => ({ ok: false, reason, detail });

async function probeListing(ctx: Shard, probed: Probed): Promise<void> {
  const { listing, product, setting, switchedOff } = probed;
  if (isOver(ctx, probed)) {
    await endListing(ctx.db, listing.id);
    return;
  }
  const verdict = switchedOff
    ? refuse('not_ready', 'The operator disabled the product.')
    : setting?.enabled === false
      ? refuse('not_ready', 'The x402 rail is disabled.')
      : product
        ? await probeRoute(ctx, product, listing, setting?.origins[0])
        : await probeResource(ctx, listing, listing.request!);
  await storeVerdict(ctx, listing, verdict);
}

/** True if a resource of the facilitator has ended: not paid for a month, or no longer on an origin of the merchant. */
const isOver = ({ wallNow }: Shard, { listing, product, setting }: Probed): boolean =>
  product === null &&
  ((listing.lastPaymentAt ?? 0) <= wallNow - UNPAID_MS || !isOnOrigin(listing.request?.url ?? '', setting?.origins ?? []));

function storeVerdict(ctx: Shard, listing: ListingRow, verdict: Verdict): Promise<void> {
  const { wallNow } = ctx;
  const at = { probedAt: wallNow, nextProbeAt: nextProbeAt(verdict.ok ? null : verdict.reason, wallNow) };
  if (!verdict.ok) {
    const { reason, detail } = verdict;
    return saveProbe(ctx, listing, { ...at, reason, reasonDetail: detail, goodAt: isForeign(reason) ? null : listing.goodAt }, null);
  }
  const { seen } = verdict;
  const isChanged = JSON.stringify([seen.resource, seen.shown]) !== JSON.stringify([listing.resource, listing.shown]);
  const found = isChanged || listing.goodAt === null ? { ...seen, updatedAt: wallNow } : null;
  return saveProbe(ctx, listing, { ...at, reason: null, reasonDetail: null, goodAt: wallNow }, found);
}

async function probeRoute(ctx: Shard, product: Product, { call, target }: ListingRow, origin: string | undefined): Promise<Verdict> {
  if (origin === undefined) return refuse('no_origin', 'The x402 rail has no origin.');
  const { discovery } = product;
  const route = discovery?.routes.find((one): one is HttpRoute => !isToolRoute(one) && one.method === call && one.path === target);
  if (!discovery || !route) return refuse('unreachable', 'The route was removed.');
  const request = requestOfRoute(origin, route);
  if (!request) return refuse('example_missing', 'A parameter of the path has no example.');
  const answer = await readChallengeAt(ctx, request);
  if (!answer.ok) return answer;
  const { merchantId, id: productId } = product;
  const at = { keys: ctx.config.CHALLENGE_KEYS!, now: ctx.now };
  const isOurs = answer.required.accepts.some((accepted) => readChallenge(at, accepted, { livemode: true, merchantId, productId }).ok);
  if (!isOurs) return refuse('challenge_not_yours', 'The challenge was not made for this product.');
  const described = await describeCall({ url: request.url, method: call }, discovery);
  const { service_name: serviceName, tags } = discovery;
  return {
    ok: true,
    seen: {
      resource: origin + route.path,
      origin,
      shown: { description: product.name, ...described!.resource, bazaar: described!.bazaar } as Shown,
      words: weighWords({ serviceName, tags, summary: route.summary ?? product.name, path: route.path }),
    },
  };
}

/** Asks the URL. Its answer must be 402 with a readable challenge. */
async function readChallengeAt(
  ctx: Shard,
  request: ProbeRequest,
): Promise<{ ok: true; required: PaymentRequired } | (Verdict & { ok: false })> {
  const answer: SeenAnswer = await probeShop(ctx, request);
  const fail = (reason: ProbeReason, detail: string) => ({ ok: false as const, reason, detail });
  if ('failed' in answer) return fail('unreachable', `${request.method} ${request.url}: ${answer.failed}.`);
  const { status, paymentRequired } = answer;
  if (status >= 300 && status < 400) return fail('redirected', `${request.method} ${request.url} answers with a redirect (${status}).`);
  if (status !== 402) return fail('status_not_402', `${request.method} ${request.url} answers ${status}.`);
  const required = paymentRequired === null ? null : parsePaymentRequired(paymentRequired);
  return required ? { ok: true, required } : fail('challenge_unreadable', 'The 402 has no readable PAYMENT-REQUIRED header.');
}

const PAYEES_MAX = 5;
const ACCEPTS_MAX = 5;

const isAddress = (value: unknown): value is string => typeof value === 'string' && /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(value);

/** Probes a resource of the facilitator. It is listed as its own challenge describes it. */
async function probeResource(ctx: Shard, { merchantId, call }: ListingRow, request: ProbeRequest): Promise<Verdict> {
  const answer = await readChallengeAt(ctx, request);
  if (!answer.ok) return answer;
  const { accepts: all, resource, extensions } = answer.required;
  const payees: string[] = [];
  for (const payTo of [...new Set(all.map((accepted) => accepted.payTo))].slice(0, PAYEES_MAX))
    if (await isPayoutWallet(ctx.db, merchantId, payTo)) payees.push(payTo);
  const { caip2, usdcMint } = ctx.config.network;
  const accepts = all
    .filter(({ scheme, network, asset, amount, payTo }) => {
      return scheme === 'exact' && network === caip2 && asset === usdcMint && /^[0-9]{1,20}$/.test(amount) && payees.includes(payTo);
    })
    .slice(0, ACCEPTS_MAX);
  if (accepts.length === 0) return refuse('payee_differs', 'The challenge pays no payout wallet of yours.');
  const { origin, pathname } = new URL(request.url);
  const { readForeignBazaar } = await import('./foreign-bazaar.ts');
  const bazaar = readForeignBazaar(extensions?.[BAZAAR], pathname);
  if (!bazaar.ok) return refuse('schema_invalid', `The extension bazaar of the challenge is not valid: ${bazaar.reason}.`);
  if (bazaar.value.method !== call) return refuse('schema_invalid', `The challenge describes ${bazaar.value.method}, not ${call}.`);
  const path = bazaar.value.template ?? pathname;
  const { isIconUrl } = await import('#protocols/x402/discovery-check.ts');
  const [description, mimeType, serviceName] = [resource.description, resource.mimeType, resource.serviceName].map(shownText);
  const tags = (resource.tags ?? []).flatMap((tag) => shownText(tag) ?? []);
  return {
    ok: true,
    seen: {
      resource: origin + path,
      origin,
      shown: {
        ...(description ? { description } : {}),
        ...(mimeType ? { mimeType } : {}),
        ...(serviceName ? { serviceName } : {}),
        ...(tags.length > 0 ? { tags } : {}),
        ...(resource.iconUrl && isIconUrl(resource.iconUrl) ? { iconUrl: resource.iconUrl } : {}),
        bazaar: bazaar.value.shown,
        accepts: accepts.map(({ scheme, network, asset, amount, payTo, maxTimeoutSeconds, extra }) => {
          const feePayer = extra?.feePayer;
          return {
            scheme,
            network,
            asset,
            amount,
            payTo,
            maxTimeoutSeconds,
            ...(isAddress(feePayer) ? { extra: { feePayer } } : {}),
          };
        }),
      },
      words: weighWords({ serviceName, tags, summary: description, path }),
    },
  };
}
