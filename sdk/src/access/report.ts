import { SvcError } from '../api/errors.ts';

/**
 * What is told where no `onError` was given: each kind of trouble once, on the console, with the call that mends it. Without it a wrong
 * key, or a product that cannot be paid for, would be a 503 that says nothing to the merchant.
 */
export function newReporter(): (error: unknown) => void {
  const told = new Set<string>();
  return (error) => {
    const code = error instanceof SvcError ? error.code : error instanceof Error ? error.message : String(error);
    if (told.has(code)) return;
    told.add(code);
    const fix = error instanceof SvcError && typeof error.meta.fix === 'string' ? ` ${error.meta.fix}` : '';
    const where = error instanceof SvcError && error.docsUrl ? ` ${error.docsUrl}` : '';
    const said = error instanceof Error ? error.message : String(error);
    // biome-ignore lint/suspicious/noConsole: the only place a merchant without `onError` looks at.
    console.error(`@svc/sdk protect: ${said}${fix}${where} (told once; set onError to hear of every one)`);
  };
}
