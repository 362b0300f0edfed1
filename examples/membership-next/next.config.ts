import type { NextConfig } from 'next';

// Next.js takes the folder of the outermost lockfile otherwise.
const config: NextConfig = { turbopack: { root: import.meta.dirname } };

export default config;
