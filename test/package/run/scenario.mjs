/** One use of the package: create, list, verify an event, an error, a time-out, an abort. Runs on every runtime. */
export async function runScenario({ sdk, baseUrl, key }) {
  const client = sdk.createClient({ baseUrl, key });

  const product = await client.products.create({ name: 'Forecast', price: { asset: 'USDC', amount: '0.05' } });
  equal(product.product_id, 'product-1', 'created product');

  const ids = [];
  for (let page = 1, hasMore = true; hasMore; page++) {
    const { items, has_more } = await client.payments.list({ page });
    ids.push(...items.map(({ payment_id }) => payment_id));
    hasMore = has_more;
  }
  equal(ids.join(), 'payment-1,payment-2,payment-3,payment-4,payment-5,payment-6', 'payments of three pages');

  const missing = await failureOf(client.products.get('missing'));
  equal(missing instanceof sdk.SvcError, true, 'error class');
  equal(missing.code, 'not_found', 'error code');

  const late = await failureOf(sdk.createClient({ baseUrl, key, timeoutMs: 100, maxRetries: 0 }).payments.get('slow'));
  equal(late.code, 'request_timeout', 'time-out');
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
  if (actual !== expected) throw new Error(`${name}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}
