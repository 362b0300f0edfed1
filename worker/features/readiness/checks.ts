import type { Fix } from '#features/products/selling/fixes.ts';
import type { CheckCode } from './check-codes.ts';

export interface Check {
  code: CheckCode;
  status: 'pass' | 'fail' | 'warn' | 'skip';
  message: string;
  fix: Fix | null;
}

export const pass = (code: CheckCode, message: string): Check => ({ code, status: 'pass', message, fix: null });
export const skip = (code: CheckCode, message: string): Check => ({ code, status: 'skip', message, fix: null });
export const warn = (code: CheckCode, message: string, fix: Fix | null): Check => ({ code, status: 'warn', message, fix });
export const fail = (code: CheckCode, message: string, fix: Fix): Check => ({ code, status: 'fail', message, fix });
