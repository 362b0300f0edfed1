import type { Context } from 'hono';
import { CHECKS } from '#features/readiness/checks.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import { firstSale } from './guide.ts';
import { sendGuide } from './guides/frame.tsx';
import { readChapters } from './guides/read-guides.ts';
import { JOURNEYS } from './journeys.ts';

/** `GET /docs`: the first sale, a guide for each journey, and the contents of all pages. */
export async function sendDocs(c: Context<AppEnv>): Promise<Response> {
  const { baseUrl } = c.var.ctx;
  return sendGuide(
    c,
    { title: 'Overview', chapters: await readChapters(c.var.ctx) },
    <article>
      <h1>Documentation</h1>
      <nav aria-label="Guides">
        {[{ id: 'first-sale', title: 'Your first sale' }, ...JOURNEYS].map(({ id, title }) => (
          <a class="turn-link" href={`#${id}`}>
            {title}
          </a>
        ))}
      </nav>
      <ul>
        <li>
          <a href="/v1/docs">API reference</a>, with requests to send from the page; the <a href="/v1/openapi.json">OpenAPI 3.1 document</a>{' '}
          itself
        </li>
        <li>
          <a href="/docs/errors">Every error code</a>: meaning, cause and next step
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
        Your server sends a key in <code>X-Svc-Key</code>. <code>svc_live_…</code> acts on real money, <code>svc_test_…</code> on the
        sandbox with its simulated chain. A person sends a session token as <code>Authorization: Bearer …</code>. A key is shown once, when
        it is created.
      </p>
      <h2 id="twice">Idempotency</h2>
      <p>
        Send an <code>Idempotency-Key</code> with every write. The same request with the same key has one effect and gets the same response.
        Retry errors with <code>retryable: true</code>.
      </p>
      <Agents />
      <Readiness />
      <NotYou />
    </article>,
  );
}

export const SiteNav = () => (
  <nav aria-label="Site">
    <a href="/">Home</a>
    <a href="/docs">Documentation</a>
    <a href="/v1/docs">API reference</a>
    <a href="/docs/errors">Error codes</a>
    <a href="/dashboard">Dashboard</a>
  </nav>
);

/** Target of every readiness check's `docs_url`. */
const Readiness = () => (
  <>
    <h2 id="readiness">Readiness</h2>
    <p>
      <code>GET /v1/access/setup/readiness</code> lists the missing requirements of a sale. Each failing check has a <code>fix</code>: the
      call that resolves it. While a blocking check fails, <code>ready</code> is false.
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

const NotYou = () => (
  <>
    <h2 id="not-you">Unknown payout wallet</h2>
    <ol>
      <li>
        Set your own wallet again: <code>PUT /v1/access/rail-settings/{'{rail_id}'}</code>, and <code>payout_wallet</code> of each product
        that names another one (<code>PATCH /v1/products/{'{product_id}'}</code>). Both require a sign-in within the last 15 minutes.
      </li>
      <li>
        Revoke every key that you did not create: <code>GET /v1/keys</code>, then <code>DELETE /v1/keys/{'{key_id}'}?with=endpoints</code>.
      </li>
      <li>
        Set a new password with <code>PATCH /v1/account/me/security</code>. All sessions end.
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
      Put your own wallet in the second line, then paste the block into a shell. The last line of the output is the URL of your checkout
      page.
    </p>
    <pre tabindex={0}>
      <code>{firstSale(baseUrl)}</code>
    </pre>
    <p>
      Open that page and pay. With <code>npm run dev</code>, the page has a demo wallet. The guides below continue in the same shell.
    </p>
  </>
);

const Prose = ({ children }: { children: string }) => (
  <p>{children.split('`').map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</p>
);

const Guides = () => (
  <>
    {JOURNEYS.map(({ id, title, intro, calls, command }) => (
      <>
        <h2 id={id}>{title}</h2>
        <Prose>{intro}</Prose>
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
      An agent without a person starts with <code>POST /v1/access/agent-bootstrap</code>: every response lists the next calls.
    </p>
  </>
);
