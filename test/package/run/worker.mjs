import * as sdk from '@paylatch/sdk';
import * as webhooks from '@paylatch/sdk/webhooks';
import { runScenario } from './scenario.mjs';

export default {
  async test(_controller, env) {
    await runScenario({ sdk, webhooks, baseUrl: env.BASE_URL, key: 'svc_test_key' });
  },
};
