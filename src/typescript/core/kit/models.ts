/** Models as the core sees them. */
export { askedWith } from "../models/model-options.js";
export { isBrowser, modelParts, type ModelParts, sealModel, vendorModel } from "../models/models.js";
export { nanoPrice } from "../models/nano-price.js";
