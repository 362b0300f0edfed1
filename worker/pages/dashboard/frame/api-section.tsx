import type { MadeCall } from './operations.ts';

const SHOWN_MAX = 65_536;

export const prettyJson = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
};

/** Calls that the document allows to no key. A test compares them with it. */
const WITHOUT_KEY = [
  /^\w+ \/v1\/(auth|buyer|accounts|invitations)\b/,
  /^\w+ \/v1\/account\/(account|me\/security|email|identities|sessions|passkeys|totp|recovery-codes|members|transfer|invitations|payouts\/)/,
  /^(POST|PUT|PATCH|DELETE) \/v1\/(keys|account\/domain)\b/,
  /\/(erase|export|stop|processor)$/,
];

/** True if a call, as `GET /v1/keys`, takes the token of a person alone. */
export const isWithoutKey = (name: string): boolean => WITHOUT_KEY.some((calls) => calls.test(name));

/** Body of a write, without what was typed: it may be a secret. */
const JSON_BODY = ` -H "Content-Type: application/json" -d '{…}'`;

function curlOf(baseUrl: string, { method, path }: MadeCall): string {
  const credential = isWithoutKey(`${method} ${path.split('?')[0]}`) ? 'Authorization: Bearer $SVC_TOKEN' : 'X-Svc-Key: $SVC_KEY';
  const isWrite = method !== 'GET';
  return `curl ${isWrite ? `-X ${method} ` : ''}"${baseUrl}${path}" -H "${credential}"${isWrite ? JSON_BODY : ''}`;
}

/** Calls of the frame, which every page makes. */
const OF_FRAME: readonly string[] = ['getAccount', 'listAccounts'];

/** The calls that a screen made, so that a program can make them too: its own first. It never shows a token. */
export const ApiSection = ({ calls, baseUrl }: { calls: readonly MadeCall[]; baseUrl: string }) => (
  <details class="api">
    <summary>API</summary>
    <p>
      <code>$SVC_KEY</code> is an <a href="/docs/keys-for-servers">API key</a>. <code>$SVC_TOKEN</code> is the token of a person, from{' '}
      <code>POST /v1/auth/login</code>.
    </p>
    {calls
      .toSorted((one, other) => Number(OF_FRAME.includes(one.id)) - Number(OF_FRAME.includes(other.id)))
      .map((call) => (
        <Call baseUrl={baseUrl} call={call} />
      ))}
  </details>
);

const Call = ({ baseUrl, call }: { baseUrl: string; call: MadeCall }) => (
  <section data-operation={call.id}>
    <h2>
      <code>
        {call.method} {call.path}
      </code>
    </h2>
    <p class="quiet">
      {String(call.status)} · {call.requestId}
    </p>
    <pre tabindex={0}>{curlOf(baseUrl, call)}</pre>
    <Json path={call.path} body={prettyJson(call.body)} />
  </section>
);

const Json = ({ path, body }: { path: string; body: string }) =>
  body.length > SHOWN_MAX ? (
    <p>
      The answer is too long for this page. With the credential, <a href={path}>{path}</a> returns it.
    </p>
  ) : (
    body !== '' && <pre tabindex={0}>{body}</pre>
  );
