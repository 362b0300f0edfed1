import * as sdk from '@paylatch/sdk';
import * as webhooks from '@paylatch/sdk/webhooks';
import { runScenario } from './scenario.mjs';

const [baseUrl, ...entries] = process.argv.slice(2);
await Promise.all(entries.map((entry) => import(entry)));
await runScenario({ sdk, webhooks, baseUrl, key: 'svc_test_key' });
console.log(navigator.userAgent);
