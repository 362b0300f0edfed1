import * as sdk from '@paylatch/sdk';
import * as webhooks from '@paylatch/sdk/webhooks';
import { runScenario } from './scenario.mjs';

// A session token is the only credential that the service takes from browsers of other origins.
const baseUrl = location.origin.replace('localhost', '127.0.0.1');
document.title = await runScenario({ sdk, webhooks, baseUrl, key: 'session-token' }).then(
  () => `ok ${navigator.userAgent.match(/Chrom\w*\/[\d.]+/)}`,
  (error) => `failed ${error.stack}`,
);
