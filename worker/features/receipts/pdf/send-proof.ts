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
import { commitWithAnswer, type StoreAnswer } from '#platform/db/once.ts';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { listLinks } from '../hash-chain.ts';
import { toReceiptResource } from '../receipt.ts';
import { documentOf, getReceipt } from '../store.ts';

export const SendProofRequest = z
  .object({
    email: z.email().max(254).describe('Email address.'),
    name: ShownName(120).optional(),
    message: ShownName(500).optional(),
    locale: z.enum(LOCALE_NAMES).optional().describe('Language of emails, such as `en`.'),
  })
  .openapi('SendProofRequest', { example: { email: 'buyer@example.com', message: 'Here is the proof you asked for.' } });
type ProofEmail = z.infer<typeof SendProofRequest>;

const A_DAY_MAX = { address: 5, account: 200 };

/**
 * Emails the public proof of a receipt. In test mode nothing is sent, and everything else is the same. Returns the email's id. Throws 404
 * not_found, 403 invalid_authorization for a sender without a verified address, 429 rate_limited, 503 mail_not_configured.
 */
export async function sendProof(ctx: Scope, receiptId: ReceiptId, proof: ProofEmail, storeAnswer: StoreAnswer<string>): Promise<string> {
  const { merchantId: accountId, livemode } = ctx;
  const receipt = await getReceipt(ctx, receiptId);
  await requireVerifiedSender(ctx);
  if (livemode) requireMail(ctx);
  const templates: MailCount['templates'] = ['receipt_proof'];
  const since = ctx.wallNow - DAY;
  const limits: { counted: MailCount; max: number }[] = [
    {
      counted: { templates, addressKeys: addressKeysOf(ctx, proof.email), subjectId: receiptId, since },
      max: A_DAY_MAX.address,
    },
    { counted: { templates, accountId, since }, max: A_DAY_MAX.account },
  ];
  const refusal = () => findRefusal(ctx, limits);
  const refused = await refusal();
  if (refused) throw refused;
  const { product_name: product, merchant, amount } = documentOf(receipt);
  const { id, writes } = planEmail(ctx, {
    template: 'receipt_proof',
    facts: { receipt_id: receiptId, product, seller: merchant.display_name, amount, name: proof.name, message: proof.message },
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

async function requireVerifiedSender(ctx: Scope): Promise<void> {
  const owner = await getOwner(ctx, await getAccount(ctx.db, ctx.merchantId));
  if (owner.emailVerified) return;
  const detail = 'The email address of the owner is not verified. POST /v1/account/email/verification sends a link to it.';
  throw new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'email_unverified' } });
}

async function findRefusal(ctx: Scope, limits: { counted: MailCount; max: number }[]): Promise<ApiError | null> {
  for (const { counted, max } of limits) {
    const { count, oldestAt } = await getMailCount(ctx.db, counted);
    if (count >= max) return new ApiError('rate_limited', { retryAfterSeconds: ((oldestAt ?? ctx.wallNow) + DAY - ctx.wallNow) / SECOND });
  }
  return null;
}
