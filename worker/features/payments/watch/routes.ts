import { z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import { equalBytes, hmacSha256, secretRing } from '#core/crypto.ts';
import { hex, utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { globalOf } from '#platform/db/directory.ts';
import { type AppEnv, errors, ok, type RouteContext } from '#platform/http/openapi.ts';
import { hitCeiling, requireCeilingLeft } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { sendJobs } from '#platform/queues/send-jobs.ts';
import { RPC_WEBHOOK_SECRET_BYTES } from '#platform/variables.ts';
import { isSignature } from '#solana/assets.ts';

/** Header names that are accepted in addition to the configured one. */
const SIGNATURE_HEADERS = ['Rpc-Signature', 'X-Rpc-Signature'];

async function isGenuine(c: RouteContext, secrets: readonly string[], given: string): Promise<boolean> {
  const raw = new Uint8Array(await c.req.arrayBuffer());
  const signature = hex.decode(given.toLowerCase());
  return secrets.map((secret) => equalBytes(hmacSha256(utf8(secret), raw), signature)).includes(true);
}

/**
 * Verifies HMAC-SHA256 (hex, optional `sha256=` prefix) over the raw bytes. Any configured secret is accepted. Throws 503 misconfigured
 * without a secret, 401 webhook_signature_failed for a wrong signature, and 400 invalid_rpc_payload if the body is not JSON.
 */
const verifySignature = createMiddleware<AppEnv>(async (c, next) => {
  const { RPC_WEBHOOK_SECRET, RPC_WEBHOOK_HEADER: header } = c.var.ctx.config;
  if (RPC_WEBHOOK_SECRET === undefined) {
    await hitCeiling(c);
    throw new ApiError('misconfigured', { meta: { missing: ['RPC_WEBHOOK_SECRET'] } });
  }
  const secrets = secretRing(RPC_WEBHOOK_SECRET, RPC_WEBHOOK_SECRET_BYTES);
  const shown = [header, ...SIGNATURE_HEADERS].map((name) => c.req.header(name)).find((value) => value !== undefined);
  const [, given] = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(shown ?? '') ?? [];
  requireCeilingLeft(c);
  if (given === undefined || !(await isGenuine(c, secrets, given))) {
    // Counts only failed signatures, because the provider may send any number of requests.
    await hitCeiling(c);
    throw new ApiError('webhook_signature_failed');
  }
  // Checked here, because a signed body that is not JSON has its own error code on this route.
  await c.req.json().catch(() => {
    throw new ApiError('invalid_rpc_payload');
  });
  await next();
});

function signaturesOf(payload: unknown): string[] {
  const items: unknown[] = Array.isArray(payload) ? payload : [payload];
  const signatures = items.map((item) => (typeof item === 'object' && item !== null && 'signature' in item ? item.signature : null));
  if (!signatures.every(isSignature)) throw new ApiError('invalid_rpc_payload');
  return [...new Set(signatures)];
}

export const chainWebhookRoutes = routes('Provider webhooks').public({
  path: 'POST /products/webhook/rpc',
  id: 'receiveChainWebhook',
  sdk: false,
  idempotency: 'none',
  summary: 'Receive chain data',
  description:
    'Receives enhanced transactions, one or a list, signed with HMAC-SHA256 over the raw body. Only their signatures are used: the service reads each transaction from its own node.',
  security: [{ chainSignature: [] }],
  guards: [verifySignature],
  body: z
    .unknown()
    .openapi({ example: { signature: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW' } })
    .describe('Enhanced transaction, or a list of them. Only `signature` is read.'),
  returns: ok(z.object({ accepted: z.int() }).openapi('ChainWebhookResponse'), 'Queued; the outcome is not known yet'),
  refusals: errors('rate_limited', 'webhook_signature_failed', 'invalid_rpc_payload', 'payload_too_large', 'unsupported_media_type'),
  answer: async ({ c, ctx }) => {
    const signatures = signaturesOf(await c.req.json());
    const jobs = signatures.map((txSignature) => ({ job: { kind: 'findPayment' as const, txSignature, attempt: 0 } }));
    await sendJobs(globalOf(ctx), jobs);
    return { accepted: signatures.length };
  },
});
