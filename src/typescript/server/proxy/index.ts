/**
 * `looplet/proxy`: the key stays on a server. `proxy` passes the model calls of a page on to vendors, for the users,
 * the models and the quota that you name.
 */
export { proxy, type ProxyContext, type ProxyOptions } from "./proxy.js";
export {
  memoryQuota,
  type MemoryQuotaOptions,
  type ProxyCall,
  type Quota,
  type QuotaLimits,
  type QuotaRefusal,
} from "./quota.js";
export { storeQuota, type StoreQuotaOptions } from "./store-quota.js";
export type { ProxyUsage } from "./usage.js";
