/** x */
package io.holdfast.store;
