import type { MadeCall } from './operations.ts';

const SHOWN_MAX = 65_536;

export const prettyJson = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
};

const curlOf = (baseUrl: string, { method, path }: MadeCall): string =>
  `curl ${method === 'GET' ? '' : `-X ${method} `}"${baseUrl}${path}" -H "Authorization: Bearer $SVC_TOKEN"`;

/** The calls that a screen made, so that a program can make them too. It never shows a token. */
export const ApiSection = ({ calls, baseUrl }: { calls: readonly MadeCall[]; baseUrl: string }) => (
  <details class="api">
    <summary>API</summary>
    {calls.map((call) => (
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
        {call.body !== '' && <pre tabindex={0}>{prettyJson(call.body).slice(0, SHOWN_MAX)}</pre>}
      </section>
    ))}
  </details>
);
