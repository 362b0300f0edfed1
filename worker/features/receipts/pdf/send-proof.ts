import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import type { ReceiptId } from '#core/ids.ts';
import { LOCALE_NAMES } from '#core/locales.ts';
import { DAY, SECOND } from '#core/time.ts';
import { getOwner } from '#features/accounts/members/acting.ts';
import { getAccount } from '#features/accounts/store.ts';
import { abortIfMailsAbove, addressKeysOf, type MailCount, planEmail, requireMail } from '#features/email/outbox.ts';
import { getMailCount } from '#features/email/store.ts';
import type { Scope } from '#platform/context.ts';
import type { StoredReceipt } from '#platform/db/archive.ts';
import { commitWithAnswer, type StoreAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { PLANS, planAt } from '#rules/plans.ts';
import { listLinks } from '../hash-chain.ts';
import { toReceiptResource } from '../receipt.ts';
import { documentOf, getReceipt, listSales } from '../store.ts';

export const SendProofRequest = z
  .object({
    email: z.email().max(254),
    name: ShownName(120).optional(),
    message: ShownName(500).optional(),
    locale: z.enum(LOCALE_NAMES).optional().describe('Language of emails, such as `en`.'),
  })
  .openapi('SendProofRequest', { example: { email: 'buyer@example.com', message: 'Here is the proof you asked for.' } });
type ProofEmail = z.infer<typeof SendProofRequest>;

const A_DAY_MAX = { address: 5, account: 200 };

/**
 * Emails the public proof of a receipt. In test mode nothing is sent, and everything else is the same. Returns the email's id. Throws 404
 * not_found, 403 invalid_authorization (email_unverified, emails_paused), 429 rate_limited, 503 mail_not_configured.
 */
export async function sendProof(ctx: Scope, receiptId: ReceiptId, proof: ProofEmail, storeAnswer: StoreAnswer<string>): Promise<string> {
  const { merchantId: accountId, livemode } = ctx;
  const receipt = await getReceipt(ctx, receiptId);
  const account = await requireSender(ctx);
  if (livemode) requireMail(ctx);
  const isToBuyer = await isBuyersAddress(ctx, receipt, proof.email);
  const paused = 'Recipients complained about emails of this account. Ask the operator to resume them.';
  if (!isToBuyer && account.emailsPausedAt !== null) throw refused('emails_paused', paused);
  const templates: MailCount['templates'] = ['receipt_proof'];
  const since = ctx.wallNow - DAY;
  const limits: { counted: MailCount; max: number }[] = [
    {
      counted: { templates, addressKeys: addressKeysOf(ctx, proof.email), subjectId: receiptId, since },
      max: A_DAY_MAX.address,
    },
    { counted: { templates, accountId, since }, max: A_DAY_MAX.account },
  ];
  if (!isToBuyer) {
    const max = PLANS[planAt(account, ctx.now)].proofsToStrangersPerDay;
    limits.push({ counted: { templates, accountId, isToStranger: true, since }, max });
  }
  const refusal = () => findRefusal(ctx, limits);
  const full = await refusal();
  if (full) throw full;
  const { product_name: product, merchant, amount } = documentOf(receipt);
  const { id, writes } = planEmail(ctx, {
    template: 'receipt_proof',
    facts: {
      ...{ receipt_id: receiptId, product, seller: merchant.display_name, amount, name: proof.name, message: proof.message },
      ...(isToBuyer ? {} : { is_to_stranger: true }),
    },
    accountId,
    address: proof.email,
    locale: proof.locale ?? null,
    subjectId: receiptId,
  });
  const links = await listLinks(ctx, [receipt]);
  const event = {
    merchantId: accountId,
    livemode,
    type: 'receipt.proof_sent',
    // Id of the email, because one receipt may be sent to many.
    subject: { type: 'receipt_proof', id, version: 1 },
    object: toReceiptResource(receipt, ctx.baseUrl, { link: links.get(receiptId) }),
    related: { proof: { message_id: id, email: proof.email } },
    productId: receipt.productId,
    paymentId: receipt.paymentId,
  } as const;
  const guards = limits.map(({ counted, max }) => abortIfMailsAbove(ctx, counted, max));
  return commitWithAnswer(ctx, { events: [event], writes: [...guards, ...writes], result: id }, storeAnswer, refusal);
}

const refused = (reason: string, detail: string): ApiError =>
  new ApiError('invalid_authorization', { status: 403, detail, meta: { reason } });

async function requireSender(ctx: Scope): Promise<Account> {
  const account = await getAccount(ctx.db, ctx.merchantId);
  const owner = await getOwner(ctx, account);
  const unverified = 'The email address of the owner is not verified. POST /v1/account/email/verification sends a link to it.';
  if (!owner.emailVerified) throw refused('email_unverified', unverified);
  return account;
}

/** True if the buyer of the receipt gave this address, in any case. */
async function isBuyersAddress(ctx: Scope, receipt: StoredReceipt, address: string): Promise<boolean> {
  const given = (await listSales(ctx, [receipt])).get(receipt.paymentId)?.payment?.email;
  return given != null && addressKeysOf(ctx, given)[0] === addressKeysOf(ctx, address)[0];
}

async function findRefusal(ctx: Scope, limits: { counted: MailCount; max: number }[]): Promise<ApiError | null> {
  for (const { counted, max } of limits) {
    const { count, oldestAt } = await getMailCount(ctx.db, counted);
    if (count >= max) return new ApiError('rate_limited', { retryAfterSeconds: ((oldestAt ?? ctx.wallNow) + DAY - ctx.wallNow) / SECOND });
  }
  return null;
}
