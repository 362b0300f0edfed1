import { SvcError } from '../errors/svc-error.ts';

/** Reports each kind of trouble once, on the console, if no `onError` is given. Without it a wrong key would go unnoticed. */
export function newReporter(): (error: unknown) => void {
  const reported = new Set<string>();
  return (error) => {
    const code = error instanceof SvcError ? error.code : error instanceof Error ? error.message : String(error);
    if (reported.has(code)) return;
    reported.add(code);
    const fix = error instanceof SvcError && typeof error.meta.fix === 'string' ? ` ${error.meta.fix}` : '';
    const where = error instanceof SvcError && error.docsUrl ? ` ${error.docsUrl}` : '';
    const said = error instanceof Error ? error.message : String(error);
    // biome-ignore lint/suspicious/noConsole: the only output of a merchant without `onError`.
    console.error(`@paylatch/sdk protect: ${said}${fix}${where} (reported once; set onError to receive every failure)`);
  };
}

/** Warning that a payment buys more than its buyer can use. */
export function leftoversWarning(granted: number | null, units: number): Error {
  const bought = granted === null ? 'access for a time' : `${granted} units`;
  return new Error(
    `Buyers pay for more than they get: a payment for this product buys ${bought}, a request uses ${units}, and without \`customer\` or a ` +
      'sign-in the rest is never asked for. Set `origins` of your x402 rail, so that buyers can sign in, set `usage_units` of the product ' +
      'to what a request uses, or give `protect` a `customer`.',
  );
}
