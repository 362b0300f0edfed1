import { docsUrl, ERRORS, type ErrorCode, isListed, type ListedCode, type ValidationProblem } from '#core/errors.ts';

const PROBLEMS: Record<ListedCode, ValidationProblem> = {
  validation_error: { loc: ['body', 'name'], msg: 'Expected a string', type: 'invalid_type' },
  unknown_field: {
    loc: ['body', 'payoutWallet'],
    msg: 'The field is unknown. Did you mean payout_wallet?',
    type: 'unknown_field',
    ctx: { nearest: 'payout_wallet' },
  },
};

/** Body of an error, at the address of all examples. */
export const errorExample = (code: ErrorCode) => ({
  detail: isListed(code) ? [PROBLEMS[code]] : ERRORS[code].message,
  code,
  request_id: '0199f0c2b5a87c3e9d1f',
  docs_url: docsUrl('https://pay.example.com', code),
  retryable: ERRORS[code].retryable,
  meta: {},
});
