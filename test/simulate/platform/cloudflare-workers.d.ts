declare module 'cloudflare:workers' {
  export class DurableObject {}
}
