import type { Context } from 'hono';
import type { AppEnv } from '#platform/http/openapi.ts';
import { openPage, sendPage } from '../../pages/document.tsx';

const TITLE = 'Sell access to anything, and be paid on Solana';
const WHAT =
  'A merchant describes a product. A buyer opens its page and pays in USDC or SOL, straight to the merchant’s own wallet. This service watches ' +
  'the chain, confirms the payment, grants access and signs a receipt. It never holds money or keys.';

export async function sendFront(c: Context<AppEnv>): Promise<Response> {
  const page = await openPage(c, 'en');
  const { DEMO_SLUG, OPERATOR_NAME, NETWORK } = c.var.ctx.config;
  return sendPage(
    page,
    {
      title: OPERATOR_NAME ? `${OPERATOR_NAME}: ${TITLE}` : TITLE,
      layout: 'plain',
      isSite: true,
      card: { title: TITLE, description: WHAT },
    },
    <main class="prose">
      <h1>{TITLE}</h1>
      <p>{WHAT}</p>
      {NETWORK === 'devnet' && <p class="notice">This deployment runs on Solana devnet: all money here is test money.</p>}
      <div class="papers">
        <a class="button" href="/login?form=registering">
          Sell something
        </a>
        <a class="plain-button" href="/login">
          Sign in
        </a>
        {DEMO_SLUG && (
          <a class="plain-button" href={`/p/${DEMO_SLUG}`}>
            Open a demo checkout
          </a>
        )}
        <a class="plain-button" href="/docs">
          Read the docs
        </a>
      </div>
      <h2>You sell</h2>
      <p>
        Name your wallet and a price, and send buyers to the page that you get: no code is needed. Or create a product with one call of the
        API, and hear of every payment by a signed webhook. <a href="/docs/dashboard">Sell with the dashboard</a> ·{' '}
        <a href="/docs#first-sale">Sell with the API</a>
      </p>
      <h2>You are an agent, or you build one</h2>
      <p>
        Sell single requests to any x402 client, or buy them. An agent sets itself up without a person. Begin at{' '}
        <a href="/llms.txt">llms.txt</a> or at <a href="/docs#agents">the docs</a>.
      </p>
      <h2>You paid for something</h2>
      <p>
        The seller’s page shows what you have, and your receipt can be checked by everybody, without us. If a link does not work, ask the
        shop that gave it to you: it can see your payment. <a href="/me">Your purchases</a> shows all that you bought here. This service
        never asks for a secret phrase or a private key.
      </p>
      <h2>Is it running?</h2>
      <p>
        <a href="/health">Status</a>, as JSON for monitors too. <a href="/v1/docs">API reference</a> ·{' '}
        <a href="/docs/errors">Error codes</a>
      </p>
    </main>,
  );
}
