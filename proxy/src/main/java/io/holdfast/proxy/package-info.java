/** x */
package io.holdfast.proxy;
