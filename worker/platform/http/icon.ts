export const ICON_PATH = '/assets/icon.svg';
export const FAVICON_PATH = '/favicon.ico';

export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64"><rect width="64" height="64" rx="14" fill="#111827"/>' +
  '<path d="M18 33l10 10 18-22" fill="none" stroke="#34d399" stroke-width="7"/></svg>';

export const ICON_HEADERS = {
  'Content-Type': 'image/svg+xml',
  'Cache-Control': 'public, max-age=86400',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
};

/** Wallets read the icon cross-origin. */
export const OPEN_ICON_HEADERS = { ...ICON_HEADERS, 'Access-Control-Allow-Origin': '*' };
