import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { base58 } from '@scure/base';
import type { History } from './history.ts';
import type { Body } from './host.ts';
import type { Books } from './payments.ts';
import { type Reader, repeated, unitsOf } from './reader.ts';

const FIRST_LINK = '0'.repeat(64);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** RFC 8785 for what receipts contain: texts, safe integers, booleans, null, lists and objects. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join()}}`;
}

/** Judges that each confirmed payment has one receipt, the receipts of a shop form one chain, and each verifies. */
export async function judgeReceipts(reader: Reader, history: History, { shop, livemode, key, payments }: Books): Promise<void> {
  const receipts = await reader.list('/v1/receipts', key);
  const keys = await readKeys(reader);
  const landed = new Map(history.landedAt(shop).map((one) => [one.signature, one]));
  const name = `the ${livemode ? 'live' : 'sandbox'} receipts of ${shop.name}`;
  const expected = payments.filter(({ status }) => status === 'CONFIRMED');
  const ids = receipts.map(({ receipt_id }) => receipt_id as string);
  for (const id of repeated(ids)) reader.find(`${name} list ${id} twice`);
  for (const { payment_id, receipt_id } of expected) reader.expect(ids.includes(receipt_id), () => `payment ${payment_id} has no receipt`);
  reader.expect(ids.length === expected.length, () => `${name} are ${ids.length}, the payments ${expected.length}`);
  judgeChain(reader, name, receipts);
  for (const receipt of receipts) {
    const payment = expected.find(({ receipt_id }) => receipt_id === receipt.receipt_id);
    reader.expect(payment?.tx_signature === receipt.tx_sig, () => `receipt ${receipt.receipt_id} names ${receipt.tx_sig}`);
    const verified = await reader.get(`/v1/receipt/${receipt.receipt_id}/verify`);
    const isOrphaned = verified?.reason === 'transaction_orphaned' && payment?.orphaned_at !== undefined;
    reader.expect(
      verified?.valid === true || isOrphaned,
      () => `receipt ${receipt.receipt_id} does not verify: ${JSON.stringify(verified)}`,
    );
    reader.expect(sha256(canonical(receipt.document)) === receipt.sha256, () => `receipt ${receipt.receipt_id} has another hash`);
    judgeSignature(reader, receipt, keys);
    if (!livemode || isOrphaned) continue;
    const { amount, recipient } = receipt.document;
    const units = landed.get(receipt.tx_sig)?.units;
    const isPaid = units === undefined ? payment?.orphaned_at !== undefined : units === unitsOf(amount) && shop.wallets.includes(recipient);
    reader.expect(isPaid, () => `receipt ${receipt.receipt_id} proves ${unitsOf(amount)} to ${recipient}, the chain shows ${units}`);
  }
}

/** Published keys of receipts by their ids. */
async function readKeys(reader: Reader): Promise<Map<string, KeyObject>> {
  const published: { keys: (JsonWebKey & { kid: string })[] } | null = await reader.get('/.well-known/svc-receipt-keys.json');
  return new Map((published?.keys ?? []).map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })]));
}

/** Verifies a receipt without the service: the document's canonical bytes, the signature, the published key. */
function judgeSignature(reader: Reader, { receipt_id, document, signature, key_id }: Body, keys: ReadonlyMap<string, KeyObject>): void {
  const key = keys.get(key_id);
  const isSigned = key !== undefined && verify(null, Buffer.from(canonical(document)), key, base58.decode(signature));
  reader.expect(isSigned, () => `receipt ${receipt_id} is not signed by the published key ${key_id}`);
}

/** Judges that the treasury was paid for each plan once, and that each payment has one receipt. */
export async function judgePlans(reader: Reader, history: History): Promise<void> {
  const paid: Body[] = [];
  for (const shop of history.shops) {
    const receipts = await reader.list('/v1/receipts?direction=paid', shop.liveKey);
    judgeChain(reader, `the paid receipts of ${shop.name}`, receipts);
    paid.push(...receipts);
    for (const { receiptId } of history.planReceipts.filter((one) => one.shop === shop))
      reader.expect(
        receipts.some(({ receipt_id }) => receipt_id === receiptId),
        () => `${shop.name} has no receipt ${receiptId} of its plan`,
      );
  }
  for (const signature of repeated(paid.map(({ tx_sig }) => tx_sig))) reader.find(`transaction ${signature} bought two plans`);
  const landed = history.landed(history.treasury).map(({ signature }) => signature);
  for (const signature of landed)
    reader.expect(
      paid.some(({ tx_sig }) => tx_sig === signature),
      () => `transaction ${signature} bought no plan`,
    );
  for (const { tx_sig } of paid) reader.expect(landed.includes(tx_sig), () => `plan payment ${tx_sig} is not on the chain`);
}

const PLANS = ['free', 'starter', 'growth', 'scale'];

/** Judges that a shop has the plan that its card pays, at whatever price it was sold. */
export async function judgeCardPlans(reader: Reader, history: History): Promise<void> {
  for (const { shop, plan } of history.cardPlans) {
    const summary = await reader.get('/v1/billing/summary', shop.liveKey);
    reader.expect(
      PLANS.indexOf(summary?.plan) >= PLANS.indexOf(plan),
      () => `${shop.name} pays for plan ${plan} by card, and has ${summary?.plan}`,
    );
  }
}

function judgeChain(reader: Reader, name: string, receipts: readonly Body[]): void {
  const links = receipts.toSorted((a, b) => (a.link?.seq ?? 0) - (b.link?.seq ?? 0));
  let previous = FIRST_LINK;
  links.forEach(({ receipt_id, link, sha256: hash }, index) => {
    reader.expect(link?.seq === index + 1, () => `${name}: receipt ${receipt_id} has place ${link?.seq} of the chain, not ${index + 1}`);
    reader.expect(link?.prev_hash === previous, () => `${name}: receipt ${receipt_id} does not follow the one before`);
    previous = sha256(canonical({ seq: link?.seq, prev_hash: link?.prev_hash, sha256: hash }));
  });
}
