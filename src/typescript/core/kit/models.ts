/** Models as the core sees them. */
export { askedWith } from "../models/model-options.js";
export {
  isBrowser,
  modelParts,
  type ModelParts,
  type Reach,
  sealModel,
  vendorModel,
} from "../models/models.js";
export { nanoPrice } from "../models/nano-price.js";
