import * as sdk from '@paylatch/sdk';
import { runScenario } from './scenario.mjs';

const [baseUrl, ...entries] = process.argv.slice(2);
await Promise.all(entries.map((entry) => import(entry)));
await runScenario({ sdk, baseUrl, key: 'svc_test_key' });
console.log(navigator.userAgent);
