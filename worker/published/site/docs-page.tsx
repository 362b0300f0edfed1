import type { Context } from 'hono';
import { CHECKS } from '#features/readiness/checks.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import { openPage, sendPage } from '../../pages/document.tsx';
import { firstSale } from './guide.ts';
import { JOURNEYS } from './journeys.ts';

const TITLE = 'Documentation';

/** `GET /docs`: where a person who integrates begins, and where everything else is. */
export async function sendDocs(c: Context<AppEnv>): Promise<Response> {
  const page = await openPage(c, 'en');
  const { baseUrl } = c.var.ctx;
  return sendPage(
    page,
    { title: TITLE, layout: 'plain', isSite: true },
    <main class="prose">
      <SiteNav />
      <h1>{TITLE}</h1>
      <nav aria-label="Guides">
        {[{ id: 'first-sale', title: 'Your first sale' }, ...JOURNEYS].map(({ id, title }) => (
          <a href={`#${id}`}>{title}</a>
        ))}
      </nav>
      <ul>
        <li>
          <a href="/v1/docs">API reference</a>, with requests to send from the page; the <a href="/v1/openapi.json">OpenAPI 3.1 document</a>{' '}
          itself
        </li>
        <li>
          <a href="/docs/errors">Every error code</a>: what happened, why, and what to do
        </li>
        <li>
          <a href="/llms.txt">llms.txt</a> and <a href="/llms-full.txt">llms-full.txt</a> for language models; each operation by itself as
          Markdown, as <a href="/v1/docs/createProduct.md">/v1/docs/createProduct.md</a>
        </li>
      </ul>
      <FirstSale baseUrl={baseUrl} />
      <Guides />
      <h2 id="who-calls">Authentication</h2>
      <p>
        Your server shows a key in <code>X-Svc-Key</code>; <code>svc_live_…</code> acts on real money, <code>svc_test_…</code> on the
        sandbox, where a simulated chain pays. A person shows the token of a sign-in as <code>Authorization: Bearer …</code>. A key is shown
        once, when it is made.
      </p>
      <h2 id="twice">Idempotency</h2>
      <p>
        Put an <code>Idempotency-Key</code> of your own on every write. The same request with the same key is done once, and gets the same
        answer again. Repeat what says <code>retryable: true</code>.
      </p>
      <Agents />
      <Readiness />
      <AfterEmail />
      <NotYou />
    </main>,
  );
}

/** Ways between the pages for developers, and out of them. */
export const SiteNav = () => (
  <nav aria-label="Site">
    <a href="/">Home</a>
    <a href="/docs">Documentation</a>
    <a href="/v1/docs">API reference</a>
    <a href="/docs/errors">Error codes</a>
    <a href="/dashboard">Dashboard</a>
  </nav>
);

/** Where the `docs_url` of every readiness check leads. */
const Readiness = () => (
  <>
    <h2 id="readiness">Readiness</h2>
    <p>
      <code>GET /v1/access/setup/readiness</code> says what is missing before a sale. Each check that does not pass has a <code>fix</code>:
      the call that mends it. A check that blocks keeps <code>ready</code> false.
    </p>
    <dl>
      {Object.entries(CHECKS).map(([code, meaning]) => (
        <>
          <dt id={code}>
            <code>{code}</code>
          </dt>
          <dd>{meaning}</dd>
        </>
      ))}
    </dl>
  </>
);

/** Sections that e-mails to merchants lead to, by their anchors. */
const AfterEmail = () => (
  <>
    <h2 id="unmatched">Money that pays no order</h2>
    <p>
      <code>GET /v1/payments/{'{payment_id}'}</code> shows it in <code>unmatched</code>.{' '}
      <code>POST /v1/payments/{'{payment_id}'}/accept-unmatched</code> makes a confirmed payment of it. To send it back, accept it and
      refund that payment.
    </p>
    <h2 id="refunded">Refunds</h2>
    <p>
      <code>POST /v1/payments/{'{payment_id}'}/refund-transaction</code> prepares one, and your wallet signs it at <a href="/sign">/sign</a>
      . If you signed none, somebody else can use your wallet: move its money to a new one, and set that as your payout wallet.
    </p>
    <h2 id="endpoints">Webhook endpoints that fail</h2>
    <p>
      <code>GET /v1/webhooks/deliveries</code> shows what your endpoint answered. Enable it again with{' '}
      <code>PATCH /v1/webhooks/endpoints/{'{endpoint_id}'}</code>, then have everything that it missed sent with{' '}
      <code>POST /v1/webhooks/endpoints/{'{endpoint_id}'}/recover</code>.
    </p>
    <h2 id="plan">Your plan</h2>
    <p>
      <code>POST /v1/billing/checkout/processor</code> opens the payment of a plan by card, <code>POST /v1/billing/portal/processor</code>{' '}
      the page where you cancel it or change the card. <code>GET /v1/billing/summary</code> shows what you have.
    </p>
    <h2 id="tickets">Support tickets</h2>
    <p>
      <code>GET /v1/support/tickets/{'{ticket_id}'}</code> shows one, <code>POST /v1/support/tickets/{'{ticket_id}'}/message</code> answers,
      and <code>POST /v1/support/tickets</code> opens another.
    </p>
  </>
);

/** Where the email about a new payout wallet leads. */
const NotYou = () => (
  <>
    <h2 id="not-you">Somebody else set a payout wallet</h2>
    <ol>
      <li>
        Set your own wallet again: <code>PUT /v1/access/rail-settings/{'{rail_id}'}</code>, and <code>payout_wallet</code> of each product
        that names another one (<code>PATCH /v1/products/{'{product_id}'}</code>). Both take the token of a sign-in that is 15 minutes old
        at most.
      </li>
      <li>
        Revoke every key that you did not make: <code>GET /v1/keys</code>, then <code>DELETE /v1/keys/{'{key_id}'}?with=endpoints</code>.
      </li>
      <li>
        Set a new password with <code>PATCH /v1/account/me/security</code>. It ends every session.
      </li>
    </ol>
    <p>
      <a href="/login">Sign in</a>
    </p>
  </>
);

const FirstSale = ({ baseUrl }: { baseUrl: string }) => (
  <>
    <h2 id="first-sale">Your first sale</h2>
    <p>
      Put your own wallet in the second line, then paste the whole block into a shell. Its last line is the address of your checkout page.
    </p>
    <pre tabindex={0}>
      <code>{firstSale(baseUrl)}</code>
    </pre>
    <p>
      Open that page and pay: on a machine that runs <code>npm run dev</code> a demo wallet is there. The guides below go on in the same
      shell.
    </p>
  </>
);

/** Words with calls and names between backquotes. */
const Words = ({ children }: { children: string }) => (
  <p>{children.split('`').map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</p>
);

/** A guide for each thing that a merchant comes to do, with commands that run. */
const Guides = () => (
  <>
    {JOURNEYS.map(({ id, title, words, calls, command }) => (
      <>
        <h2 id={id}>{title}</h2>
        <Words>{words}</Words>
        <pre tabindex={0}>
          <code>{command}</code>
        </pre>
        <ul>
          {calls.map((call) => (
            <li>
              <code>{call}</code>
            </li>
          ))}
        </ul>
      </>
    ))}
  </>
);

const Agents = () => (
  <>
    <h2 id="agents">Agents</h2>
    <p>
      An agent without a person begins with <code>POST /v1/access/agent-bootstrap</code>: every answer carries the next calls to make.
    </p>
  </>
);
