import { raise } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { type Money, type MoneyResource, toMoneyResource } from '#core/money.ts';
import { findAccount, findLogo } from '#features/accounts/store.ts';
import { manageUrlOf } from '#features/authorizations/steps.ts';
import { findCollectedBy } from '#features/authorizations/store.ts';
import type { PdfFacts, ReceiptDocument } from '#pdf/facts.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { networkNameOf } from '#solana/assets.ts';
import { documentOf, findMetadata, isBilledBy, type Receipt } from '../store.ts';

export const moneyOf = ({ asset, base_units }: MoneyResource): Money => ({ asset, units: BigInt(base_units) });

export function netOf({ amount, fee }: ReceiptDocument): Money {
  const { asset, units } = moneyOf(amount);
  return { asset, units: units - (fee ? moneyOf(fee).units : 0n) };
}

export const proofPageOf = (ctx: Ctx, { id }: Pick<Receipt, 'id'>): string => `${ctx.baseUrl}/r/${id}`;

/**
 * Renders a receipt as a PDF with the public facts, for the merchant also with fee, net and metadata, for a buyer (`buyerKey`) with the
 * billed party that this buyer wrote. Deterministic for receipt, metadata, brand and outcome. Throws 503 temporarily_unavailable if a font
 * cannot be read.
 */
export async function drawReceipt(
  ctx: Shard,
  { receipt, isOrphaned }: { receipt: Receipt; isOrphaned: boolean },
  copy: 'public' | 'merchant' | { buyerKey: Uint8Array },
): Promise<Uint8Array> {
  const document = documentOf(receipt);
  const [account, logo, authorizationId, known] = await Promise.all([
    findAccount(ctx.db, receipt.merchantId),
    findLogo(ctx.db, receipt.merchantId),
    findCollectedBy(ctx.db, receipt.paymentId),
    copy === 'public' ? undefined : findMetadata(ctx.db, receipt.id),
  ]);
  // The service sold the plan, so the PDF does not carry the buying account's brand.
  const settings = document.merchant.account_id === receipt.merchantId ? (account?.merchantSettings ?? {}) : {};
  const facts: PdfFacts = {
    document: receipt.document,
    sha256: receipt.sha256,
    signature: receipt.signature,
    keyId: receipt.keyId,
    proofUrl: proofPageOf(ctx, receipt),
    ...(authorizationId ? { subscriptionUrl: manageUrlOf(ctx.baseUrl, authorizationId) } : {}),
    network: networkNameOf(document.network),
    isOrphaned,
    brand: {
      name: settings.checkout_brand_name ?? document.merchant.display_name,
      ...(logo && logo.url === settings.checkout_logo_url ? { logo: logo.bytes } : {}),
      ...(settings.checkout_accent_hex ? { accent: settings.checkout_accent_hex } : {}),
    },
    ...(typeof copy === 'object' && known?.metadata.bill_to && isBilledBy(known, copy.buyerKey)
      ? { buyerCopy: { bill_to: known.metadata.bill_to } }
      : {}),
    ...(copy === 'merchant'
      ? {
          merchantCopy: { fee: document.fee ?? null, net: toMoneyResource(netOf(document)), ...(known ? { invoice: known.metadata } : {}) },
        }
      : {}),
  };
  const { renderReceipt } = await import('#pdf/render.ts');
  return renderReceipt(facts, (path) => loadFont(ctx, path));
}

/** Cache of fonts in this isolate, because parsing one costs more than the page. */
const fonts = new Memory<string, Uint8Array>(40);

async function loadFont(ctx: Ctx, path: string): Promise<Uint8Array> {
  const known = fonts.get(path);
  if (known) return known;
  const response = await ctx.env.ASSETS.fetch(`https://assets${path}`);
  if (!response.ok) {
    ctx.note(`font ${path}: HTTP ${response.status}`);
    return raise('temporarily_unavailable', { retryAfterSeconds: 1 });
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  fonts.set(path, bytes);
  return bytes;
}
