import * as sdk from '@paylatch/sdk';
import { runScenario } from './scenario.mjs';

export default {
  async test(_controller, env) {
    await runScenario({ sdk, baseUrl: env.BASE_URL, key: 'svc_test_key' });
  },
};
