import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const SECRET = `whsec_${Buffer.from('a secret of 32 bytes for a test!').toString('base64')}`;
const PAGES = 3;
const PER_PAGE = 2;
/** Headers and methods that the service allows browsers of any origin. */
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': 'Content-Type, Authorization, PAYMENT-SIGNATURE, Idempotency-Key',
  'Access-Control-Expose-Headers': 'Retry-After, X-Svc-Request-Id',
};

export interface MockApi {
  baseUrl: string;
  /** Page of another origin that runs a script in a browser. */
  pageUrl: string;
  end(): void;
}

function newEvent() {
  const id = 'evt_01JD7Q2Z8X3V5W6Y7A8B9C0D1E';
  const body = JSON.stringify({ id, type: 'payment.confirmed', data: { object: { payment_id: 'payment-1', status: 'CONFIRMED' } } });
  const timestamp = Math.floor(Date.now() / 1000);
  const sign = (key: string | Buffer, payload: string) => createHmac('sha256', key).update(payload);
  const headers = {
    'x-svc-signature': `t=${timestamp},v1=${sign(SECRET, `${timestamp}.${body}`).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${sign(Buffer.from(SECRET.slice(6), 'base64'), `${id}.${timestamp}.${body}`).digest('base64')}`,
  };
  return { body, headers, secret: SECRET };
}

function paymentPage(page: number) {
  const items = Array.from({ length: PER_PAGE }, (_, n) => ({
    payment_id: `payment-${(page - 1) * PER_PAGE + n + 1}`,
    status: 'CONFIRMED',
  }));
  return { items, page, per_page: PER_PAGE, total: PAGES * PER_PAGE, total_pages: PAGES, has_more: page < PAGES };
}

/** Attempts of each write, by its Idempotency-Key. */
const attempts = new Map<string, number>();

/** Fails the first attempt of every write, so that only a repeated one with the same key succeeds. */
function createProduct(headers: IncomingHttpHeaders, body: object): { status: number; body: object } {
  const key = String(headers['idempotency-key'] ?? '');
  const attempt = (attempts.get(key) ?? 0) + 1;
  attempts.set(key, attempt);
  if (!/^sdk_[0-9a-f-]{36}$/.test(key)) return { status: 422, body: refusal('idempotency_key_required', false) };
  if (attempt === 1) return { status: 503, body: refusal('temporarily_unavailable', true) };
  return { status: 201, body: { product_id: 'product-1', ...body, metadata: { client: headers['x-svc-client'] ?? null } } };
}

const refusal = (code: string, retryable: boolean) => ({
  detail: `Refused: ${code}.`,
  code,
  request_id: 'r1',
  docs_url: '',
  retryable,
  meta: {},
});

/** Starts a server that answers the calls of the scenario as the service does. `script` is what its page runs. */
export async function startMockApi(script: () => string): Promise<MockApi> {
  const server: Server = createServer((request, response) => void answer(request, response, script));
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    pageUrl: `http://localhost:${port}/page`,
    end: () => server.close().closeAllConnections(),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, script: () => string): Promise<void> {
  const send = (status: number, body: object, headers = {}) =>
    response.writeHead(status, { 'Content-Type': 'application/json', ...CORS, ...headers }).end(JSON.stringify(body));
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const url = new URL(request.url!, 'http://mock-api');
  if (request.method === 'OPTIONS') return void response.writeHead(204, CORS).end();
  if (url.pathname === '/page')
    return void response.setHeader('Content-Type', 'text/html').end('<!doctype html><script type="module" src="/page.js"></script>');
  if (url.pathname === '/page.js') return void response.setHeader('Content-Type', 'text/javascript').end(script());
  if (url.pathname === '/event') return void send(200, newEvent());
  if (!request.headers['x-svc-key'] && !request.headers.authorization) return void send(401, refusal('invalid_authorization', false));
  switch (`${request.method} ${url.pathname}`) {
    case 'POST /v1/products': {
      const { status, body } = createProduct(request.headers, JSON.parse(Buffer.concat(chunks).toString()));
      return void send(status, body);
    }
    case 'GET /v1/payments':
      return void send(200, paymentPage(Number(url.searchParams.get('page') ?? 1)));
    case 'GET /v1/payments/slow':
      // Never answers.
      return;
    default:
      send(404, refusal('not_found', false));
  }
}
