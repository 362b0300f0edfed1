import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endOnSignals } from '../../local/cli/signals.ts';
import { Teardown } from '../../local/cli/teardown.ts';
import { startService } from '../../local/service/service.ts';

/** Service for the browsers, in a process of its own. Prints `ready <base_url> <rpc_url>` and runs until it is stopped. */
const teardown = new Teardown();
endOnSignals(teardown);
const stateDir = mkdtempSync(join(tmpdir(), 'svc-browser-'));
teardown.defer(() => rmSync(stateDir, { recursive: true, force: true }));
try {
  const service = await startService({
    port: 0,
    chainPort: 0,
    stateDir,
    teardown,
    world: true,
    variables: {
      POLL_AFTER_MS: '30:500,120:1000,86400:3000',
      TELEGRAM_CONNECTOR_SECRETS: 'connector-secret-of-the-browser-tests:telegram',
      DISCORD_CONNECTOR_SECRETS: 'connector-secret-of-the-browser-tests:discord',
      ONRAMP_URL: 'https://ramp.example/buy?to={wallet}&asset={asset}&amount={amount}',
      // Only for the test that waits for a real expiry. Slightly longer than the last seconds in which no wallet is offered.
      SESSION_SECONDS: '19',
      LATE_GRACE_SECONDS: '0',
    },
    onProgress: () => {},
    onProblem: () => {},
  });
  console.log(`ready ${service.baseUrl} ${service.rpcUrl}`);
  const reason = await service.gaveUp;
  if (!teardown.hasBegun) throw new Error(reason);
} catch (error) {
  if (!teardown.hasBegun) console.error(error);
  await teardown.run();
  process.exitCode = 1;
}
