/** Uses the package once: create, list, verify an event, an error, a time-out, an abort. Runs on every runtime. */
export async function runScenario({ sdk, webhooks, baseUrl, key }) {
  const client = sdk.createClient({ baseUrl, key });

  // The first attempt fails, and the second has the same Idempotency-Key.
  const product = await client.products.create({ name: 'Forecast', price: { asset: 'USDC', amount: '0.05' } });
  equal(product.product_id, 'product-1', 'created product');
  const isBrowser = typeof document === 'object';
  equal(/^ts\/\d+\.\d+\.\d+ \S+\/\S+$/.test(product.metadata.client), !isBrowser, `X-Svc-Client (${product.metadata.client})`);

  const first = await client.payments.list();
  equal(first.items.length, 2, 'payments of one page');
  const ids = [];
  for await (const { payment_id } of client.payments.list()) ids.push(payment_id);
  equal(ids.join(), 'payment-1,payment-2,payment-3,payment-4,payment-5,payment-6', 'payments of three pages');

  const { body, headers, secret } = await (await fetch(`${baseUrl}/event`)).json();
  const event = await webhooks.verifyWebhook(body, headers, secret);
  equal(event.type, 'payment.confirmed', 'verified event');
  equal(webhooks.isKnownEvent(event), true, 'known event');
  const forged = await failureOf(webhooks.verifyWebhook(body.replace('CONFIRMED', 'FAILED'), headers, secret));
  equal(sdk.isSvcError(forged, 'webhook_signature_failed'), true, 'forged event');

  const missing = await failureOf(client.products.get('missing'));
  equal(sdk.isSvcError(missing, 'not_found'), true, 'error');

  const late = await failureOf(client.payments.get('slow', { timeoutMs: 100, maxRetries: 0 }));
  equal(late.code, 'request_timeout', 'time-out');

  const abort = new AbortController();
  const reason = new Error('not needed');
  setTimeout(() => abort.abort(reason), 50);
  equal(await failureOf(client.payments.get('slow', { signal: abort.signal })), reason, 'abort');
}

async function failureOf(call) {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('the call did not fail');
}

function equal(actual, expected, name) {
  if (actual !== expected) throw new Error(`${name}: ${String(actual)} instead of ${String(expected)}`);
}
