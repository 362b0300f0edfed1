const sdk = require('@paylatch/sdk');
const webhooks = require('@paylatch/sdk/webhooks');
const { runScenario } = require('./scenario.mjs');

const [baseUrl, ...entries] = process.argv.slice(2);
for (const entry of entries) require(entry);

(async () => {
  const imported = await import('@paylatch/sdk');
  if (imported.SvcError !== sdk.SvcError) throw new Error('require and import load two copies of the package');
  await runScenario({ sdk, webhooks, baseUrl, key: 'svc_test_key' });
  console.log(navigator.userAgent);
})();
